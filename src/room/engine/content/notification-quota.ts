/** The quota of notifications that the mentions of one user cause in an hour. */
import { AppError } from "@atrium/contract/errors.ts";
import type { Author, Mentioned } from "@atrium/contract/resources/thread.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";

const HOUR_MS = 60 * 60 * 1000;

export class NotificationQuota {
  readonly #ports: Pick<RoomPorts, "storage" | "now" | "limits">;

  constructor(ports: Pick<RoomPorts, "storage" | "now" | "limits">) {
    this.#ports = ports;
  }

  /**
   * Counts the mentioned for their author, in the transaction of the mention. FORBIDDEN above the quota. The hour begins
   * with its first notification.
   */
  spend({ userId, subject: author }: Author, { readers, groups, groupSizes, byGuest }: Mentioned): void {
    // Users without an identity have no inbox; a reader with several mentions counts once.
    const heard = readers.filter(({ subject, userId }) => subject !== author && subject !== userId);
    const named = new Set(heard.map(({ subject }) => subject)).size;
    const caused = [...new Set(groups)].reduce((sum, id) => sum + (groupSizes?.[id] ?? 0), named);
    if (caused === 0) return;
    const { storage, now, limits } = this.#ports;
    const { ofUser, ofGuest } = limits().notificationsPerHour;
    const [at, counts] = [now(), storage.notificationCounts];
    const { since, count } = counts.find(userId, at - HOUR_MS) ?? { since: at, count: 0 };
    const max = byGuest === true ? ofGuest : ofUser;
    if (count + caused > max) throw exceeded({ count, caused, max, until: presentTime(since + HOUR_MS) });
    counts.write(userId, { since, count: count + caused }, at - HOUR_MS);
  }
}

interface Excess {
  readonly count: number;
  readonly caused: number;
  readonly max: number;
  readonly until: string;
}

const exceeded = ({ count, caused, max, until }: Excess): AppError =>
  new AppError(
    "Rooms",
    "FORBIDDEN",
    `The quota notifications_per_hour is exceeded: ${count} of ${max} are used, and this mention would cause ${caused} more; ` +
      `mention fewer people, or wait until ${until}`,
  );
