/** `npm run account`: the operator's changes of organizations and persons, directly in the database. */
import { COMMANDS, HELP, parseArguments } from "./account-commands.ts";
import { runCommand } from "./process/command.ts";
import { createPrivately } from "./process/folder.ts";

async function main(stop: AbortSignal): Promise<void> {
  const args = parseArguments(process.argv.slice(2));
  createPrivately();
  const { result, text, failure } = await COMMANDS[args.command].run(args, stop);
  if (args.json && result !== null) console.log(JSON.stringify(result));
  else if (text !== null) console.log(text);
  if (failure) throw failure;
}

await runCommand(main, { help: HELP });
