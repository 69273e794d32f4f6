"use strict";

// The criteria of the score matrix as tabs; without this they stand one below the other.
{
  const list = document.querySelector(".tabs");
  const sections = [...document.querySelectorAll("section.score")];
  if (list && sections.length > 1) {
    const tabs = sections.map((section) => {
      const tab = Object.assign(document.createElement("button"), { type: "button", textContent: section.dataset.title, id: `tab-${section.id}` });
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", section.id);
      section.setAttribute("role", "tabpanel");
      section.setAttribute("aria-labelledby", tab.id);
      section.querySelector("h3").classList.add("hidden");
      return tab;
    });
    const show = (index, focus) => {
      tabs.forEach((tab, i) => {
        tab.setAttribute("aria-selected", String(i === index));
        tab.tabIndex = i === index ? 0 : -1;
        sections[i].hidden = i !== index;
      });
      if (focus) { tabs[index].focus(); history.replaceState(null, "", `#${sections[index].id}`); }
    };
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => show(i, true));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) { event.preventDefault(); show((i + step + tabs.length) % tabs.length, true); }
      });
    });
    list.append(...tabs);
    list.hidden = false;
    show(Math.max(0, sections.findIndex((section) => `#${section.id}` === location.hash)), false);
  }
}
