// All scripts, each in a module of its own. They run in this order.

import "./htmx.js";
import "./armed.js";
import "./back.js";
import "./bell.js";
import "./busy.js";
import "./captcha.js";
import "./countdown.js";
import "./counted.js";
import "./device_time.js";
import "./dialog.js";
import "./filters.js";
import "./fragments.js";
import "./live.js";
import "./mini-week.js";
import "./more.js";
import "./plan.js";
import "./plan_drag.js";
import "./refresh.js";
import "./room.js";
import "./spoken.js";
import "./tabs.js";
import "./toasts.js";
import "./tools.js";
import "./unsent.js";
import "./upload.js";
import "./visit.js";
import "./zone.js";

// The page is read before start.js adds this script, and htmx starts at this event.
document.dispatchEvent(new Event("DOMContentLoaded"));
