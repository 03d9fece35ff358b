// The rules that pages are held against: html-validate's recommended ones, but for
// what the HTML standard allows and we mean.
module.exports = {
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    // Ticks of one list have one name, and a form posts each that is ticked. By default
    // the rule knows that only of radio buttons and of names that end in [].
    "form-dup-name": ["error", { shared: ["radio", "button", "reset", "submit", "checkbox"] }],
    // The documentation's headings have the ids that code-hosting platforms give them,
    // "1-start-the-server", so that links work in both places.
    "valid-id": ["error", { relaxed: true }],
    // A page is called what people call its thing; search engines, which cut a long
    // title off, do not see it.
    "long-title": "off",
  },
};
