/** Cloudflare's published prices of the paid plan, in US dollars, as of November 2026. */
import { type Bill, ofObjects } from "./bill.ts";

/** Frames of WebSockets that count as one request of an object. */
const FRAMES_PER_REQUEST = 20;
/** An object counts with the memory that it might use. */
const OBJECT_GB = 0.128;
const BYTES_PER_GB = 1e9;

interface Price {
  readonly item: string;
  /** The units of a month. */
  readonly units: (bill: Bill) => number;
  /** Dollars per unit. */
  readonly dollars: number;
  /** The units of each month that the plan's 5 dollars include. */
  readonly included: number;
}

/**
 * https://developers.cloudflare.com/workers/platform/pricing/, …/durable-objects/platform/pricing/ and
 * …/d1/platform/pricing/. Outgoing messages and traffic are free of charge.
 */
export const PRICES: readonly Price[] = [
  { item: "requests to the Worker", units: ({ requests }) => requests, dollars: 0.3e-6, included: 10e6 },
  {
    item: "requests to objects",
    units: (bill) =>
      ofObjects(bill, "calls") + ofObjects(bill, "alarms") + ofObjects(bill, "messages") / FRAMES_PER_REQUEST,
    dollars: 0.15e-6,
    included: 1e6,
  },
  {
    item: "GB-seconds of objects",
    units: (bill) => ofObjects(bill, "activeSeconds") * OBJECT_GB,
    dollars: 12.5e-6,
    included: 400_000,
  },
  {
    item: "rows read by objects",
    units: (bill) => ofObjects(bill, "rowsRead"),
    dollars: 0.001e-6,
    included: 25e9,
  },
  {
    item: "rows written by objects",
    units: (bill) => ofObjects(bill, "rowsWritten"),
    dollars: 1e-6,
    included: 50e6,
  },
  {
    item: "GB stored by objects",
    units: (bill) => ofObjects(bill, "storedBytes") / BYTES_PER_GB,
    dollars: 0.2,
    included: 5,
  },
  { item: "rows read in D1", units: ({ database }) => database.rowsRead, dollars: 0.001e-6, included: 25e9 },
  {
    item: "rows written in D1",
    units: ({ database }) => database.rowsWritten,
    dollars: 1e-6,
    included: 50e6,
  },
];

/** Price of these units in dollars, beside the plan. */
export const listPrice = (bill: Bill): number =>
  PRICES.reduce((sum, { units, dollars }) => sum + units(bill) * dollars, 0);

/** The same, without the plan's included units. */
export const surcharge = (bill: Bill): number =>
  PRICES.reduce(
    (sum, { units, dollars, included }) => sum + Math.max(0, units(bill) - included) * dollars,
    0,
  );
