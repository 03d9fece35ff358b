// Ctrl+Enter saves the form, from any of its fields. An Enter key that chose something does
// not save it while it is down.

let chose = false;

document.addEventListener("keydown", (event) => {
  const form = event.target.closest?.("form.form:has(.submit.bar)");
  if (!form || event.key !== "Enter" || event.isComposing) return;
  chose ||= event.defaultPrevented;
  const saves = !chose && (event.ctrlKey || event.metaKey);
  if (chose || saves) event.preventDefault();
  if (saves) form.requestSubmit(form.querySelector(".submit.bar button.main"));
});
document.addEventListener("keypress", (event) => {
  if (chose) event.preventDefault();
});
document.addEventListener("keyup", () => { chose = false; });
