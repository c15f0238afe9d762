// On a narrow screen the tabs are one row that scrolls, and the one that is open stands in sight.

const row = document.querySelector(".topbar-nav");
const open = row?.querySelector("[aria-current]");

if (open) row.scrollLeft = open.offsetLeft - (row.offsetWidth - open.offsetWidth) / 2;
