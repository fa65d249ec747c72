/** What of wrangler's output is worth reading: warnings, errors and the Worker's own lines. */

/** Progress and one line per request. */
const NOISE = /^(?:\[wrangler:info\]|⎔ )/;
/** Wrangler's reminder that nothing triggers the cron here, which is said on every start. */
const CRON_REMINDER = {
  begins: "Scheduled Workers are not automatically triggered",
  ends: "test-cron-triggers-locally",
};

/** A filter for the lines of one stream: false for those to leave out. */
export function createLineFilter(): (line: string) => boolean {
  let isInReminder = false;
  let wasLastKept = true;
  const isKept = (line: string): boolean => {
    if (line.includes(CRON_REMINDER.begins)) isInReminder = true;
    if (isInReminder) {
      isInReminder = !line.includes(CRON_REMINDER.ends);
      return false;
    }
    // The blank lines that close a hidden block go with it.
    return line.trim() === "" ? wasLastKept : !NOISE.test(line);
  };
  return (line) => {
    wasLastKept = isKept(line);
    return wasLastKept;
  };
}
