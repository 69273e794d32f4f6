"use strict";

// A front page's question and baseline. What another choice shows is in a file of the baseline's,
// made by the same templates as the page; the address keeps the choice.
{
  const form = document.querySelector("form.choice");
  const front = document.querySelector(".front");
  const start = () => {
    const select = form.elements.base;
    const tabs = [...form.querySelectorAll("[role=tab]")];
    const places = ["answer", "beneath", "said"].map((id) => document.getElementById(id));
    const first = { question: tabs[0].dataset.name, base: select?.options[0].value ?? "" };
    let shown = { ...first };

    const show = async () => {
      const wanted = { question: tabs.find((tab) => tab.getAttribute("aria-selected") === "true").dataset.name, base: select?.value ?? "" };
      if (wanted.question === shown.question && wanted.base === shown.base) return;
      const file = select?.selectedOptions[0].dataset.file ?? front.dataset.file;
      const found = await ccperf.load(file, `front ${front.dataset.kind} ${wanted.base}`);
      const [answer, beneath] = found.answers[wanted.question];
      [answer, beneath, found.said].forEach((html, i) => {
        if (!places[i]) return;
        places[i].innerHTML = html;
        for (const table of places[i].querySelectorAll("table")) ccperf.dressed(table);
      });
      places[0].setAttribute("aria-label", tabs.find((tab) => tab.dataset.name === wanted.question).textContent);
      shown = wanted;
    };
    const choose = (tab) => tabs.forEach((one) => {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    });
    const remember = () => {
      const chosen = new URLSearchParams();
      const tab = tabs.find((one) => one.getAttribute("aria-selected") === "true");
      if (tab.dataset.name !== first.question) chosen.set("question", tab.dataset.name);
      if (select && select.value !== first.base) chosen.set("base", select.value);
      ccperf.address(chosen, ["question", "base"]);
    };
    // A page that is shown again may have kept the select, but not what it chose.
    const read = () => {
      const given = new URLSearchParams(location.hash.slice(1));
      choose(tabs.find((tab) => tab.dataset.name === given.get("question")) ?? tabs[0]);
      if (select) select.value = [...select.options].some((one) => one.value === given.get("base")) ? given.get("base") : first.base;
      show();
    };
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => { choose(tab); remember(); show(); });
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const next = tabs[(i + step + tabs.length) % tabs.length];
        next.focus();
        next.click();
      });
    });
    select?.addEventListener("change", () => { remember(); show(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", read);
    addEventListener("pageshow", read);
    form.hidden = false;
    read();
  };
  if (form) start();
}
