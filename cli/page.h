/* The parts of the page that `report` writes: the files of cli/page/, each ended by a zero byte. */
#ifndef TW_CLI_PAGE_H
#define TW_CLI_PAGE_H

extern const char cli_page_html[]; /* with the marks @TITLE@, @STYLE@, @DATA@ and @SCRIPT@ */
extern const char cli_page_css[];
extern const char cli_page_js[];

#endif
