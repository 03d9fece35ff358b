// Ctrl+Enter saves the form, from any of its fields.

for (const form of document.querySelectorAll("form.form:has(.submit.bar)")) {
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector(".submit.bar button.main"));
  });
}
