// Ctrl+Enter saves the form, from any of its fields.

document.addEventListener("keydown", (event) => {
  const form = event.target.closest?.("form.form:has(.submit.bar)");
  if (!form || event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector(".submit.bar button.main"));
});
