/** Judges the steps of a query plan, as `EXPLAIN QUERY PLAN` names them. */

/** Tables and indexes with rows on their way only, and two short lists: their statements are meant to read all of them. */
const TRANSIENT =
  /^(?:moves|fences|copies|sqlite_schema)(?: |$)|USING (?:COVERING )?INDEX (?:files_unsettled|search_lists_unfinished)$/;

/** Whether a step of a plan reads a whole table, and not the few rows that another step or a list of values has made. */
function isScan(detail: string, sql: string): boolean {
  const [, source = ""] = /^SCAN (.+)$/.exec(detail) ?? [];
  if (
    source === "" ||
    TRANSIENT.test(source) ||
    /^(CONSTANT ROW|\d+-ROW VALUES CLAUSE|\(|.* VIRTUAL TABLE )/.test(source)
  )
    return false;
  const [name] = source.split(" ");
  return !new RegExp(`\\b${name} (\\(\\w+\\) )?AS \\(|\\) AS ${name}\\b`, "i").test(sql);
}

/** Whether rows that are listed by their IDs are looked for among all others of their room or organization. */
const isSieve = (detail: string, sql: string): boolean =>
  detail === "CREATE BLOOM FILTER" && /\b(id|key)"? IN \(\s*SELECT value FROM json_each/i.test(sql);

/** Whether a step of the statement's plan reads more than the statement is for. */
export const readsTooMuch = (detail: string, sql: string): boolean =>
  isScan(detail, sql) || isSieve(detail, sql);
