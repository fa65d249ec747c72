/** Runs programs in a dispatch namespace of Workers for Platforms, where Cloudflare itself bounds their resources. */
import { AppError } from "@atrium/contract/errors.ts";
import { GUEST_COMPATIBILITY, guestModules, MAIN_MODULE, nameOf } from "./guest-modules.ts";
import { type Guest, invoke } from "./invocation.ts";
import { type NamespaceApi, NamespaceError } from "./namespace-api.ts";
import {
  type HostBindings,
  platformLimits,
  type RunInput,
  type RunLimits,
  type Runner,
  type RunReport,
  type Script,
  type ScriptKey,
} from "./runner.ts";

/** Length of the hash in a script's name; with `wf-`, a UUID and a dash, the name has the longest allowed length. */
const HASH_LENGTH = 22;

type DispatchBinding = Pick<DispatchNamespace, "get">;

export class DispatchRunner implements Runner {
  readonly #dispatcher: DispatchBinding;
  readonly #api: NamespaceApi;
  /** Limits of each run. Uploads have them as well, so that they hold for calls by other routes. */
  readonly #limits: RunLimits;

  constructor(dispatcher: DispatchBinding, api: NamespaceApi, limits: RunLimits) {
    this.#dispatcher = dispatcher;
    this.#api = api;
    this.#limits = limits;
  }

  /** Throws VALIDATION_ERROR with the line of a problem that only the runtime finds. */
  async deploy(script: Script): Promise<void> {
    try {
      await this.#upload(script);
    } catch (error) {
      const problem = findSyntaxProblem(error);
      if (problem === null) throw error;
      throw new AppError("Workflows", "VALIDATION_ERROR", `code: ${problem}`);
    }
  }

  async #upload(script: Script): Promise<void> {
    const { accountId, workflowId, module } = script;
    await this.#api.put(await scriptName(script), {
      mainModule: MAIN_MODULE,
      modules: guestModules(module),
      compatibilityDate: GUEST_COMPATIBILITY.date,
      compatibilityFlags: GUEST_COMPATIBILITY.flags,
      limits: platformLimits(this.#limits),
      tags: [`account-${accountId}`, `workflow-${workflowId}`],
    });
  }

  async remove(script: ScriptKey): Promise<void> {
    await this.#api.delete(await scriptName(script));
  }

  /** A missing script, deployed by an earlier version of the service or deleted since, is uploaded again. */
  async run(script: Script, input: RunInput, bindings: HostBindings, limits: RunLimits): Promise<RunReport> {
    const name = await scriptName(script);
    const start = () => invoke(this.#open(name, limits), { input, bindings, limits }, isMissing);
    try {
      return (await start()).report;
    } catch (error) {
      if (!isMissing(error)) throw error;
      await this.#upload(script);
      return (await start()).report;
    }
  }

  #open(name: string, limits: RunLimits): Guest {
    const script = this.#dispatcher.get(name, {}, { limits: platformLimits(limits) });
    return script as unknown as Guest;
  }
}

const scriptName = async (script: ScriptKey): Promise<string> =>
  `wf-${script.workflowId}-${(await nameOf(script)).slice(0, HASH_LENGTH)}`;

/** The runtime's message about the program's module. Its column is of no use: compiling has moved it. */
const SYNTAX_ERROR = /SyntaxError: (.{1,200})\n\s+at workflow\.js:(\d+)/;

function findSyntaxProblem(error: unknown): string | null {
  const found = error instanceof NamespaceError ? SYNTAX_ERROR.exec(error.message) : null;
  return found && `line ${found[2]}: ${found[1]}`;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("Worker not found");
