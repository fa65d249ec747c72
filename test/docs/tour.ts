/** A document's shell tour: the blocks after `<!-- tour -->`, and after `<!-- tour: TEXT -->`, which must print TEXT. */
import { readBlocks } from "./markdown.ts";

export interface Step {
  readonly commands: string;
  /** What the last command must print; undefined when that does not matter. */
  readonly printed: string | undefined;
}

export const readTour = (text: string): Step[] =>
  readBlocks(text).flatMap(({ language, code, before }) => {
    const [isTour, printed] = /^<!-- tour(?:: (.*?))? -->$/.exec(before) ?? [];
    return language === "sh" && isTour !== undefined ? [{ commands: code, printed }] : [];
  });

const TIMEOUT_SECONDS = 30;

/** Repeats the commands until they print the text: a run of a workflow, say, takes a moment. */
const repeatUntil = (commands: string, text: string): string => `
SECONDS=0
until SAID=$(${commands}
); [ "$SAID" = '${text}' ] || [ $SECONDS -gt ${TIMEOUT_SECONDS} ]; do :; done
echo "said: $SAID"
`;

/** The steps as one script, which prints a line `said: …` for each text that a step must print. */
export const scriptOf = (steps: readonly Step[]): string =>
  steps
    .map(({ commands, printed }) =>
      printed === undefined ? `${commands}\n` : repeatUntil(commands, printed),
    )
    .join("");

/** What a script of {@link scriptOf} said, step by step. */
export const saidBy = (stdout: string): string[] =>
  [...stdout.matchAll(/^said: (.*)$/gm)].map(([, text = ""]) => text);

/** What the steps must say. */
export const expectedOf = (steps: readonly Step[]): string[] => steps.flatMap(({ printed }) => printed ?? []);
