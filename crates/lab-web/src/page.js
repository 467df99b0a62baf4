// SPDX-License-Identifier: Apache-2.0
// What pages cannot do by themselves: answers that come later, runs that are followed, choices that are counted.
"use strict";

// Answers that were not known when the page was made, one after the other.
async function fillSummaries() {
  for (const place of document.querySelectorAll("[data-summary]")) {
    try {
      const answer = await fetch(place.dataset.summary);
      const made = document.createElement("template");
      made.innerHTML = await answer.text();
      if (answer.ok) place.replaceWith(made.content);
      else place.textContent = "It cannot be read.";
    } catch {
      return;
    }
  }
}

// The report so far is replaced; what the reader unfolded stays so.
function showReport(place, html) {
  const open = new Set();
  for (const part of place.querySelectorAll("details[open]")) open.add(part.querySelector("summary").textContent);
  place.innerHTML = html;
  for (const part of place.querySelectorAll("details")) {
    if (open.has(part.querySelector("summary").textContent)) part.open = true;
  }
}

function follow(place) {
  const progress = document.getElementById("app-progress");
  const events = new EventSource(place.dataset.live);
  events.addEventListener("progress", (event) => { progress.textContent = event.data; });
  events.addEventListener("report", (event) => showReport(document.getElementById("app-report"), event.data));
  events.addEventListener("ended", () => { events.close(); location.reload(); });
  window.addEventListener("pagehide", () => events.close());
}

function countChosen(form) {
  const line = document.getElementById("app-count");
  const first = line.textContent;
  form.addEventListener("change", () => {
    const chosen = form.querySelectorAll("input[name=run]:checked").length;
    line.textContent = chosen === 0 ? first : chosen === 1 ? "1 run chosen." : chosen + " runs chosen.";
  });
}

fillSummaries();
document.querySelectorAll("[data-live]").forEach(follow);
document.querySelectorAll("#app-chosen").forEach(countChosen);
