/** `npm run house`: prints the size of the repository beside its targets. */
import { DETAILS, MEASURES } from "./measures.ts";

const column = (value: number): string => value.toLocaleString("en").padStart(8);

console.log(`${"".padEnd(46)}   today   bound  target`);
for (const { name, today, bound, target } of MEASURES)
  console.log(
    `${name.padEnd(46)}${column(today)}${column(bound)}${column(target)}${today > target ? "" : "  met"}`,
  );
if (DETAILS.length > 0) console.log(`\n${DETAILS.join("\n")}`);
