/** All planted bugs, by the part of the service that they are in. */
import { ACCOUNTS } from "./accounts.ts";
import { DELIVERY } from "./delivery.ts";
import { FILES } from "./files.ts";
import type { Mutant } from "./mutant.ts";

export const MUTANTS: readonly Mutant[] = [...ACCOUNTS, ...DELIVERY, ...FILES];
