/* Files of test vectors, run. */
#ifndef TW_TESTS_VECTOR_FILES_H
#define TW_TESTS_VECTOR_FILES_H

#include "import/text/vectors.h"

/* Told of each case that was run. What is wrong with one has been printed. */
typedef void tw_vector_visit(const tw_vector_case *one, bool passed, void *context);

/* Run the cases of every FOLDER/NAME.txt, in the order of names; a file that cannot be read fails the
 * test. Returns the number of files. */
int tw_vector_files(const char *folder, tw_vector_visit *visit, void *context);

#endif
