/** Hostile programs, by the Worker Loader. */
import { env } from "cloudflare:workers";
import { selectRunner } from "../../src/sandbox/runners/select-runner.ts";
import { describeRunner } from "./runner-contract.ts";

describeRunner("the loader runner", () => selectRunner(env));
