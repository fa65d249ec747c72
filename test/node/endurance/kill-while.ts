/** Kills the service again and again while writers write. */
import type { Random } from "../../support/random.ts";
import type { KillableService } from "./killable-service.ts";

/** Works on, however often the service is killed. */
export interface KilledWriter {
  /** Begins; calls `stepped` after each step. */
  start(stepped: () => void): void;
  /** Resolves when the begun steps are done. */
  stop(): Promise<void>;
}

interface Kills {
  readonly kills: number;
  /** Each kill follows up to this many further steps of all writers together. */
  readonly maxSteps: number;
  readonly random: Random;
}

/** Starts the writers, kills the service that often, starts it again each time, and stops the writers. */
export async function killWhile(
  writers: readonly KilledWriter[],
  service: Pick<KillableService, "kill" | "start">,
  { kills, maxSteps, random }: Kills,
): Promise<void> {
  let left = 0;
  let killed: (killing: Promise<void>) => void = () => {};
  const stepped = () => {
    left -= 1;
    // Kills at once: an answer to an earlier step may be on its way.
    if (left === 0) killed(service.kill());
  };
  for (const writer of writers) writer.start(stepped);
  for (let kill = 0; kill < kills; kill += 1) {
    await new Promise<Promise<void>>((resolve) => {
      killed = (killing) => resolve(killing);
      left = 1 + random(maxSteps);
    });
    await service.start();
  }
  await Promise.all(writers.map((writer) => writer.stop()));
}
