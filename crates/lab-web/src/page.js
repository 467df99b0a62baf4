// SPDX-License-Identifier: Apache-2.0
// Adds to pages what HTML alone cannot do: loads results later, follows a run, and counts the chosen runs.
"use strict";

// Fetches results that were not cached when the page was rendered, one after the other.
async function fillSummaries() {
  for (const placeholder of document.querySelectorAll("[data-summary]")) {
    try {
      const answer = await fetch(placeholder.dataset.summary);
      const template = document.createElement("template");
      template.innerHTML = await answer.text();
      if (answer.ok) placeholder.replaceWith(template.content);
      else placeholder.textContent = "The run cannot be read.";
    } catch {
      return;
    }
  }
}

// Replaces the current report. Details that the user opened stay open.
function showReport(container, html) {
  const openTitles = new Set();
  for (const details of container.querySelectorAll("details[open]")) {
    openTitles.add(details.querySelector("summary").textContent);
  }
  container.innerHTML = html;
  for (const details of container.querySelectorAll("details")) {
    if (openTitles.has(details.querySelector("summary").textContent)) details.open = true;
  }
}

function follow(liveElement) {
  const progress = document.getElementById("app-progress");
  const events = new EventSource(liveElement.dataset.live);
  events.addEventListener("progress", (event) => { progress.textContent = event.data; });
  events.addEventListener("report", (event) => showReport(document.getElementById("app-report"), event.data));
  events.addEventListener("ended", () => { events.close(); location.reload(); });
  window.addEventListener("pagehide", () => events.close());
}

function countChosen(form) {
  const line = document.getElementById("app-count");
  const initialText = line.textContent;
  form.addEventListener("change", () => {
    const chosen = form.querySelectorAll("input[name=run]:checked").length;
    line.textContent = chosen === 0 ? initialText : chosen === 1 ? "1 run chosen." : chosen + " runs chosen.";
  });
}

fillSummaries();
document.querySelectorAll("[data-live]").forEach(follow);
document.querySelectorAll("#app-chosen").forEach(countChosen);
