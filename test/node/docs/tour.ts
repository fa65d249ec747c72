/** A document's shell tour: the blocks after `<!-- tour -->`, and after `<!-- tour: TEXT -->`, which must print TEXT. */
import { ROOT, run } from "../cli/processes.ts";
import type { SharedService } from "../cli/shared-service.ts";
import { readBlocks } from "./markdown.ts";

export interface Step {
  readonly commands: string;
  /** Expected output of the last command; undefined when it does not matter. */
  readonly printed: string | undefined;
}

export const readTour = (text: string): Step[] =>
  readBlocks(text).flatMap(({ language, code, before }) => {
    const [isTour, printed] = /^<!-- tour(?:: (.*?))? -->$/.exec(before) ?? [];
    return language === "sh" && isTour !== undefined ? [{ commands: code, printed }] : [];
  });

const TIMEOUT_SECONDS = 120;

const printOnce = (commands: string): string => `echo "said: $(${commands}\n)"\n`;

/** Repeats the commands until they print the text: a run of a workflow, say, takes a moment. */
const repeatUntil = (commands: string, text: string): string => `
SECONDS=0
until SAID=$(${commands}
); [ "$SAID" = '${text}' ] || [ $SECONDS -gt ${TIMEOUT_SECONDS} ]; do :; done
echo "said: $SAID"
`;

/** The steps as one script, which prints a line `said: …` for each text that a step must print. */
const scriptOf = (steps: readonly Step[], isPatient: boolean): string =>
  steps
    .map(({ commands, printed }) => {
      if (printed === undefined) return `${commands}\n`;
      return isPatient ? repeatUntil(commands, printed) : printOnce(commands);
    })
    .join("");

/** How a tour ended. */
export interface TourResult {
  readonly exitCode: number | null;
  readonly stderr: string;
  /** Output of the steps with an expected output. */
  readonly said: readonly string[];
}

/**
 * Executes the steps in `directory`, against the service. `adapt` may change the script. Where `isPatient` is false, each
 * step must print its text at once, as it must for a reader who pastes it.
 */
export async function runTour(
  steps: readonly Step[],
  { port, accountId, apiKey }: SharedService,
  directory: string,
  adapt: (script: string) => string = (script) => script,
  isPatient = true,
): Promise<TourResult> {
  const script = adapt(scriptOf(steps, isPatient))
    .replaceAll("localhost:8787", `localhost:${port}`)
    .replace("PATH=$PWD", `PATH=${ROOT}`);
  const env = { ACCOUNT_ID: accountId, API_KEY: apiKey };
  const { exitCode, stdout, stderr } = await run("bash", ["-euc", script], { cwd: directory, env });
  const said = [...stdout.matchAll(/^said: (.*)$/gm)].map(([, text = ""]) => text);
  return { exitCode, stderr, said };
}

/** How the tour must end. */
export const expectedOf = (steps: readonly Step[]): TourResult => ({
  exitCode: 0,
  stderr: "",
  said: steps.flatMap(({ printed }) => printed ?? []),
});
