/** Cost of a month of an application, from the bills of single things. */
import { type Bill, plus, times } from "./bill.ts";

/** The bill of one of each. */
export interface UnitBills {
  readonly room: Bill;
  readonly user: Bill;
  /** A join and the leave that ends it, with their events. */
  readonly visit: Bill;
  readonly cursor: Bill;
  /** A second of a room in which someone moves, without the positions. */
  readonly movingSecond: Bill;
  readonly write: Bill;
  readonly comment: Bill;
}

/** How many of each. */
export type Counts = Readonly<Record<Exclude<keyof UnitBills, "movingSecond">, number>>;

/**
 * The sum over all. Seconds in which rooms are active overlap: `activeSeconds` counts seconds in which anything
 * happens at all, instead of the sum of the seconds that each message would have kept a room active alone.
 */
export function billOf(units: UnitBills, counts: Counts, activeSeconds: number): Bill {
  const names: (keyof Counts)[] = ["room", "user", "visit", "cursor", "write", "comment"];
  const moving = times(units.movingSecond, activeSeconds);
  const sum = names.reduce((bill, name) => plus(bill, units[name], counts[name]), moving);
  sum.objects.rooms.activeSeconds =
    activeSeconds + times(units.visit, counts.visit).objects.rooms.activeSeconds;
  return sum;
}

/** How 1,000 people use an application in a month. */
export const MONTH = {
  users: 1_000,
  newUsers: 200,
  newRooms: 200,
  visitsPerUser: 20,
  minutesPerVisit: 20,
  /** Users in a room at the same time. */
  together: 3,
  /** The share of a visit in which a user moves the cursor, and how often the SDK then sends it. */
  moving: 0.25,
  cursorsPerSecond: 20,
  writesPerMinute: 6,
  commentsPerVisit: 0.2,
} as const;

/** Counts of everything in that month, and the seconds in which any room is active. */
export function monthOf(month: typeof MONTH): { readonly counts: Counts; readonly activeSeconds: number } {
  const visits = month.users * month.visitsPerUser;
  const seconds = visits * month.minutesPerVisit * 60;
  const someoneMoves = 1 - (1 - month.moving) ** month.together;
  return {
    counts: {
      room: month.newRooms,
      user: month.newUsers,
      visit: visits,
      cursor: seconds * month.moving * month.cursorsPerSecond,
      write: visits * month.minutesPerVisit * month.writesPerMinute,
      comment: visits * month.commentsPerVisit,
    },
    activeSeconds: (seconds / month.together) * someoneMoves,
  };
}
