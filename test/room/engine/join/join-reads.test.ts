/** R66, R76: reads for many users are made together, in turns by key, and not for users who are gone. */
import { describe, expect, it } from "vitest";
import { FairLoader } from "../../../../src/platform/flow/fair-queue.ts";
import { JOIN_READS } from "../../../../src/room/engine/join/join-decision.ts";

describe("joins", () => {
  const open = () => {
    const reads: { readonly userIds: readonly string[]; finish(): void; fail(): void }[] = [];
    const joiners = new FairLoader<string>({
      read: (userIds) =>
        new Promise((resolve, reject) => {
          const fail = () => reject(new Error("The database failed"));
          reads.push({ userIds, finish: () => resolve((userId) => `row of ${userId}`), fail });
        }),
      ...JOIN_READS,
    });
    return { joiners, reads, join: (userId: string) => joiners.load(userId, () => true) };
  };
  const usersOf = (reads: ReturnType<typeof open>["reads"]) => reads.map(({ userIds }) => userIds);

  it("are read by one read at a time, those that wait together, and not for a socket that is gone (R66)", async () => {
    const { joiners, reads, join } = open();
    const joins = ["ada", "ben", "ada", "cleo", "ada"].map(join);
    const gone = joiners.load("dan", () => false);
    expect(usersOf(reads)).toEqual([["ada"]]);
    reads[0]?.finish();
    expect(await gone).toBeNull();
    expect(usersOf(reads)).toEqual([["ada"], ["ben", "ada", "cleo"]]);
    reads[1]?.finish();
    expect(await Promise.all(joins)).toEqual(
      ["ada", "ben", "ada", "cleo", "ada"].map((id) => `row of ${id}`),
    );
    expect(reads).toHaveLength(2);
  });

  it("fail with the read that they share, and those behind them are read", async () => {
    const { reads, join } = open();
    const [ada, ben, cleo] = [join("ada"), join("ben"), join("cleo")];
    reads[0]?.fail();
    await expect(ada).rejects.toThrow("The database failed");
    expect(usersOf(reads)).toEqual([["ada"], ["ben", "cleo"]]);
    reads[1]?.finish();
    expect(await Promise.all([ben, cleo])).toEqual(["row of ben", "row of cleo"]);
  });

  it("that are held are read together once they are released (R76)", () => {
    const { joiners, reads, join } = open();
    const release = joiners.hold();
    for (const userId of ["ada", "ben", "cleo"]) void join(userId);
    expect(reads).toEqual([]);
    release();
    expect(usersOf(reads)).toEqual([["ada", "ben", "cleo"]]);
  });
});
