// htmx with its websockets, for all scripts.

import htmx from "htmx.org";
import "htmx-ext-ws";

window.htmx = htmx;
