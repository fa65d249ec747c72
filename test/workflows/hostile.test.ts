/** Hostile programs, by the Worker Loader. */
import { env } from "cloudflare:workers";
import { runnerOf } from "../../src/workflows/runner-of.ts";
import { describeRunner } from "./runner-contract.ts";

describeRunner("the loader runner", () => runnerOf(env));
