/** How often the randomised tests run, and from which seed: little in `npm test`, and as asked in `npm run endurance`. */

const MAX_SEED = 2 ** 31;

declare module "vitest" {
  interface ProvidedContext {
    endurance: Runs;
  }
}

export interface Runs {
  readonly seed: number;
  /** Simulations of a pure room, by its storage. */
  readonly inMemory: number;
  readonly inSqlite: number;
  /** The same tales, told against the running service. */
  readonly tales: number;
  /** SIGKILLs of the running service while members write. */
  readonly kills: number;
}

/** Reads what `npm run endurance` put into the environment. */
export function readRuns(environment: NodeJS.ProcessEnv): Runs {
  const read = (name: string, otherwise: number): number => Number(environment[name] ?? otherwise);
  return {
    seed: read("ATRIUM_SEED", Math.floor(Math.random() * MAX_SEED)),
    inMemory: read("ATRIUM_SIMULATIONS", 400),
    inSqlite: read("ATRIUM_SIMULATIONS", 100),
    tales: read("ATRIUM_TALES", 4),
    kills: read("ATRIUM_KILLS", 5),
  };
}
