// An idea is put into the question; nothing is asked yet.
document.addEventListener("click", (event) => {
  const idea = event.target.closest("[data-sql]");
  if (!idea) return;
  const question = document.getElementById("sql");
  question.value = idea.dataset.sql;
  question.focus();
});
