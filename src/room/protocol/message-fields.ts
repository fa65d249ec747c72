/** The fields that several messages have, as zod schemas. */
import * as z from "zod";
import { text } from "../../platform/text.ts";
import * as limits from "./limits.ts";

const MAX_REQUEST_ID_LENGTH = 255;

export const RequestId = z.string().max(MAX_REQUEST_ID_LENGTH).optional();
/** The request id of a batch over REST, where it is required. */
export const BatchRequestId = z.string().min(1).max(MAX_REQUEST_ID_LENGTH);

/** A position in the room's sequence of changes. */
export const Seq = z.int().min(0);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Any JSON value; `z.unknown` alone would accept a missing one. */
export const Json = z.unknown().refine((value) => value !== undefined, "is required");
export const JsonObject = z
  .unknown()
  .refine(isRecord, "must be a JSON object")
  .meta({ override: { type: "object" } });

export const Id = text(1, limits.MAX_ID_LENGTH);
export const StoreName = text(1, limits.MAX_STORE_NAME_LENGTH);
export const Key = text(1, limits.MAX_KEY_LENGTH);
/** The version that the entry must have; 0 if it must not exist. */
export const IfVersion = z.int().min(0).optional();
