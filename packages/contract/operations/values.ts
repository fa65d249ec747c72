/** Values of several operations: IDs, JSON and positions. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { byteLength, text } from "../text.ts";

const MAX_REQUEST_ID_LENGTH = 255;

export const RequestId = z.string().max(MAX_REQUEST_ID_LENGTH).optional();
/** The request id of a batch over REST, where it is required. */
export const BatchRequestId = z.string().min(1).max(MAX_REQUEST_ID_LENGTH);

export const Seq = z.int().min(0);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Any JSON value; `z.unknown` alone would accept a missing one. */
export const Json = z.unknown().refine((value) => value !== undefined, "is required");
export const JsonObject = z
  .unknown()
  .refine(isRecord, "must be a JSON object")
  .meta({ override: { type: "object" } });

/** JSON of at most this size, or nothing. */
export const optionalJson = (bytes: number) =>
  z
    .unknown()
    .optional()
    .refine(
      (value) => byteLength(JSON.stringify(value ?? null)) <= bytes,
      `must have at most ${bytes} bytes`,
    );

export const Id = text(1, LIMITS.idLength);

/** The data of an answer that says nothing more. */
export const Nothing = z.object({});
