/** The small languages of the command line, each on a page of its own. */

export const filtersTopic = `--filter "COLUMN OPERATOR VALUE[,VALUE]…" is a condition that the service
evaluates.

  --filter "KEY EQ ada@example.com,bob@example.com"
  --filter "CONTACT_STATUS EQ active"
  --filter "LIST_ID EQ Newsletter"          a list's name is replaced by its id

Several values of one condition: any of them. Several --filter: all must hold.
Put a value with a comma or a quote in double quotes: "KEY EQ ""a,b"""
COLUMN and OPERATOR go to the service as they are. Documented are the columns
KEY, CONTACT_STATUS, LIST_ID, FIELD_ID, and the operator EQ. For conditions on
fields, tags and dates see: ecm help where

--filter-json takes what the API takes: an array of filters, or the whole
contactSpecification object. The criteria of one filter must all hold; separate
filters are alternatives.
`;

export const whereTopic = `--where EXPRESSION chooses contacts by an expression in CEL (Common
Expression Language). It is evaluated here, while the pages of the account are
read; with --list or --status the service selects the pages first.

  --where 'City == "Oslo"'
  --where '"VIP" in tags && createdAt > timestamp("2026-01-01T00:00:00Z")'
  --where 'key.endsWith("@example.com") && !("Newsletter" in lists)'
  --where 'fields["E-mail 2"] != ""'

Names:
  key, status, substatus    strings; email keys and statuses compare in any
                            letter case (==, !=, in)
  lists, tags               lists of names
  fields                    a map: label → value
  createdAt, updatedAt      timestamps
  a field's label           its value; other characters than letters and digits
                            are written as _ (First_Name)

Often written otherwise:
  City == "Oslo"            not =, and text in double quotes
  A == "x" && B == "y"      not and; || is or, ! is not
  First_Name == "Ada"       not First Name; fields["First Name"] is the same
  City.contains("Os")       not like
  Age != "" && double(Age) > 30.0        fields are text
  createdAt > timestamp("2026-01-01T00:00:00Z")
  substatus == "unsubscribe"             status is active or inactive

A field without a value is "". A name that does not exist is an error (exit
code 2) before anything is sent.
`;

export const selectionsTopic = `contact mutate, unsubscribe, delete and search, and export, choose contacts by:

  --key KEY          this key (repeatable: any of them)
  --keys FILE        keys or ids, one a line, or a CSV with a key or _id column;
                     - is standard input
  --list LIST        members of this list (repeatable: any of them)
  --tag TAG          contacts with this tag (repeatable: any of them)
  --status STATUS    active, inactive, unsubscribed, bounced, complained
  --where EXPR       contacts for which the expression is true (ecm help where)
  --text WORDS       all words occur in the key or in fields (search and export)
  --all              every contact; a bulk write without conditions needs it

Contacts must match all given flags. The service evaluates --key, --list and
--status; the others are evaluated here while pages are read. The estimate
before the first write includes these pages.
`;

export const formatsTopic = `-o, --output FORMAT, or --json

  table    for people; the default at a terminal
  tsv      tab-separated with a header; the default elsewhere
  csv      as tsv, with commas; an export in csv can be imported again
  json     the service's own objects, unchanged: one object, or an array
  ndjson   the same, one object per line
  id       ids only, one per line

--columns a,b,c picks and orders the columns. --output-file FILE writes to FILE
instead of stdout (atomically); its name decides the format: .csv, .tsv, .json,
.ndjson and .xlsx. A file of that name is replaced, unless the command reads it
or has another output there. Data goes to stdout; everything else to stderr.

For spreadsheets: .xlsx is a workbook whose cells are all text, so that zeros in
front and telephone numbers stay. In csv, --bom adds a byte order mark, and
--safe-cells puts an apostrophe before what would run as a formula. Excel takes
zeros off the front of numbers in any csv.
`;

export const faultsTopic = `--fault KIND[:METHOD[:PATH]][:n=N|:first=N|:p=P[:seed=N]][:seconds=S]

  reset-before   the connection is dropped before the request is applied
  reset-after    the request is applied, then the connection is dropped
  500, 503, 429  this status instead of the answer
  delay          the answer comes S seconds later
  truncate       the answer is cut in the middle

METHOD and PATH may be *, and * matches any part of a path.
n=N the Nth matching request, first=N the first N, p=P each with probability P
(the same ones for the same seed). Without a count, every matching request is
affected.

  --fault reset-after:POST:/api/contact:n=3
  --fault 503:*:/api/contact/search:first=2
  --fault 500:*:*:p=0.1:seed=7
`;
