// render(content) renders one card below <main>, and tells what the renderer said
// against it, what it left out, and what is to be read.

const markdown = window.markdownit();

AdaptiveCards.AdaptiveCard.onProcessMarkdown = (text, result) => {
  result.outputHtml = markdown.render(text);
  result.didProcess = true;
};

// missing lists the elements and actions that have no place on the page, or an
// empty one.
function missing(card) {
  const left = [];
  const look = (element) => {
    const shown = element.renderedElement;
    if (!shown?.isConnected || shown.innerText.trim() === "") left.push(element.getJsonTypeName());
    for (let i = 0; i < (element.getItemCount?.() ?? 0); i++) look(element.getItemAt(i));
  };
  look(card);
  for (let i = 0; i < card.getActionCount(); i++) {
    if (!card.getActionAt(i).renderedElement?.isConnected) left.push(card.getActionAt(i).getJsonTypeName());
  }
  return left;
}

window.render = (content) => {
  // As of the version that the card says, what came later is an event too.
  const context = new AdaptiveCards.SerializationContext(AdaptiveCards.Version.parse(content.version, new AdaptiveCards.SerializationContext()));
  const card = new AdaptiveCards.AdaptiveCard();
  card.parse(content, context);
  const events = [];
  for (let i = 0; i < context.eventCount; i++) events.push(context.getEventAt(i).message);
  card.validateProperties().validationEvents.forEach((event) => events.push(event.message));
  const shown = card.render();
  if (!shown) return { events, missing: ["the card"], text: "", links: [], elements: 0 };
  const frame = document.createElement("article");
  frame.append(shown);
  document.querySelector("main").replaceChildren(frame);
  return {
    events,
    missing: missing(card),
    text: frame.innerText,
    links: [...frame.querySelectorAll("a")].map((a) => a.href),
    buttons: [...frame.querySelectorAll("button")].map((b) => b.innerText),
    marks: [...frame.querySelectorAll("em, strong, code, h1, h2, h3, blockquote, img, script, ol")].map((e) => e.outerHTML),
  };
};
