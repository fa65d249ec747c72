/** Units of Cloudflare's bill, summed up by the metered Worker and compared by the fleet bench. */

/** The classes of objects that take part in serving rooms. */
export const OBJECT_CLASSES = ["rooms", "subscribers", "eventLogs", "requestLogs", "requestRates"] as const;
export type ObjectClass = (typeof OBJECT_CLASSES)[number];

/** Work of the objects of one class. */
export interface ObjectBill {
  /** Requests and RPC calls. */
  calls: number;
  alarms: number;
  /** Frames of WebSockets that an object received. Answering pings by itself is free of charge, and not counted. */
  messages: number;
  /** Seconds in which an object ran at all: an upper bound of the billed duration. */
  activeSeconds: number;
  rowsRead: number;
  /** Rows, entries of indexes, and settings of alarms. */
  rowsWritten: number;
  /** The size of the objects' databases, as far as they have grown. */
  storedBytes: number;
}

export interface DatabaseBill {
  /** Batches, each a round trip. */
  trips: number;
  statements: number;
  rowsRead: number;
  rowsWritten: number;
}

export interface Bill {
  /** Requests to the Worker, upgrades included. */
  requests: number;
  readonly database: DatabaseBill;
  readonly objects: Readonly<Record<ObjectClass, ObjectBill>>;
}

const emptyObjectBill = (): ObjectBill => ({
  calls: 0,
  alarms: 0,
  messages: 0,
  activeSeconds: 0,
  rowsRead: 0,
  rowsWritten: 0,
  storedBytes: 0,
});

export const emptyBill = (): Bill => ({
  requests: 0,
  database: { trips: 0, statements: 0, rowsRead: 0, rowsWritten: 0 },
  objects: {
    rooms: emptyObjectBill(),
    subscribers: emptyObjectBill(),
    eventLogs: emptyObjectBill(),
    requestLogs: emptyObjectBill(),
    requestRates: emptyObjectBill(),
  },
});

/** A bill whose every figure is that of `change` for the figures of `bills`. */
function combine(change: (...figures: number[]) => number, ...bills: readonly Bill[]): Bill {
  const all = <Part extends object>(parts: readonly Part[]): Part =>
    Object.fromEntries(
      Object.keys(parts[0] ?? {}).map((key) => [
        key,
        change(...parts.map((part) => Number(Reflect.get(part, key)))),
      ]),
    ) as Part;
  return {
    requests: change(...bills.map(({ requests }) => requests)),
    database: all(bills.map(({ database }) => database)),
    objects: {
      rooms: all(bills.map(({ objects }) => objects.rooms)),
      subscribers: all(bills.map(({ objects }) => objects.subscribers)),
      eventLogs: all(bills.map(({ objects }) => objects.eventLogs)),
      requestLogs: all(bills.map(({ objects }) => objects.requestLogs)),
      requestRates: all(bills.map(({ objects }) => objects.requestRates)),
    },
  };
}

/** `a + b × times`. */
export const plus = (a: Bill, b: Bill, times = 1): Bill =>
  combine((first = 0, second = 0) => first + second * times, a, b);

/** `a − b`. */
export const minus = (a: Bill, b: Bill): Bill => plus(a, b, -1);

export const times = (bill: Bill, factor: number): Bill => combine((figure = 0) => figure * factor, bill);

/** The sum over all classes of objects. */
export const ofObjects = ({ objects }: Bill, figure: keyof ObjectBill): number =>
  OBJECT_CLASSES.reduce((sum, name) => sum + objects[name][figure], 0);
