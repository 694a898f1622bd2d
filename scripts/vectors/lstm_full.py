#!/usr/bin/env python3
"""src/ops/lstm_full.txt: what TensorFlow Lite computed for the layers of scripts/fixtures/tflite_layers.py (its
lstm_int8_* folders), the first run of each, as cases of the operator alone. `tilewright` reads the models."""
import importlib.metadata
import pathlib
import re
import subprocess
import sys

import numpy as np

import twir

LITE = "ai-edge-litert " + importlib.metadata.version("ai-edge-litert")


def main(tilewright):
    file = twir.File("lstm_full.py")
    for folder in sorted(pathlib.Path("tests/data/tflite-layers").glob("lstm_int8_*")):
        text = subprocess.run([tilewright, "inspect", folder / "model.tflite", "--ir"], check=True, capture_output=True, text=True).stdout
        rows = [line.split("\t") for line in (folder / "io.tsv").read_text(encoding="ascii").splitlines()[2:]]
        lines = [f'case "{folder.name}" oracle "{LITE}"', text.strip()]
        for role, name, dtype, shape, steps, data in rows:
            array = np.frombuffer((folder / data).read_bytes(), dtype)
            array = array[:array.size // int(steps)]
            lines.append(f'{"feed  " if role == "in" else "expect"} %{name} = {twir.data(array)}')
        file.parts.append("\n".join(lines) + "\n")
    file.write("src/ops/lstm_full.txt")


main(sys.argv[1] if len(sys.argv) > 1 else "build/tilewright")
