/** Makes, reads, edits, reviews and withdraws suggestions: forks of documents that others accept part by part. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { SuggestedPart, Suggestion } from "@atrium/contract/resources/suggestion.ts";
import type { EditedDocument } from "@atrium/contract/rest/document-edits.ts";
import type { SuggestionCreation, SuggestionReview } from "@atrium/contract/rest/suggestions.ts";
import { SUGGESTION_LIMITS } from "@atrium/contract/suggestion-limits.ts";
import { byteLength, cut } from "@atrium/contract/text.ts";
import type * as z from "zod";
import { causeOf } from "../../../platform/d1/context.ts";
import { refusalTo, writerOf } from "../../../platform/d1/rights.ts";
import {
  acceptingUpdate,
  type SuggestedPart as CorePart,
  partsOf,
} from "../../../room/documents/suggestions/suggestions.ts";
import { requireBuildable } from "../../../room/documents/updates/built-document.ts";
import { mergeMany } from "../../../room/documents/updates/known-content.ts";
import type {
  ListedSuggestions,
  ReviewedUpdate,
  SuggestionDetails,
  SuggestionPage,
} from "../../../room/types/suggestions.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../../rooms/queries.ts";
import { authorOf, type DocumentPlace, readDocument, requireOrdinary } from "./commands.ts";
import { editsOf, editWithin, requestOf } from "./edit-commands.ts";

/** Times that a review is made again because the document changed while it was made. */
const MAX_ATTEMPTS = 6;

export interface SuggestionPlace extends DocumentPlace {
  readonly suggestionId: string;
}

interface CreatedSuggestion {
  readonly suggestion: Suggestion;
  readonly edits: EditedDocument["edits"];
}

/** NOT_FOUND without the document; CONFLICT as for edits, for a large document, and where too many are pending. */
export async function createSuggestion(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  { title, ...list }: z.infer<typeof SuggestionCreation>,
  requestId: string | undefined,
): Promise<CreatedSuggestion> {
  const { roomId, document } = place;
  requireOrdinary(document);
  await requireOpenRoom(ctx, roomId);
  const author = authorOf(ctx.actor);
  const request = await requestOf(ctx, list, requestId, `suggestion ${title ?? ""}`);
  const start = await ctx.rooms.beginEdit(roomId, ctx.accountId, document, request, null);
  if (start.answer !== null) return JSON.parse(start.answer) as CreatedSuggestion;
  if (start.documentId === null) throw notFound("Rooms", "Document");
  const base = await readDocument(ctx, place, null);
  requireBuildable(base);
  const { update, edits } = await editsOf(ctx, place, start, list, base);
  const answer = await ctx.rooms.createSuggestion(roomId, ctx.accountId, document, {
    ...{ title: title ?? null, author, base, update, request, documentId: start.documentId },
    ...{ edits: JSON.stringify(edits), writer: writerOf(ctx), cause: causeOf(ctx.actor), trace: ctx.trace },
  });
  return JSON.parse(answer) as CreatedSuggestion;
}

interface SuggestionQuery extends Omit<ListedSuggestions, "status"> {
  readonly status?: ListedSuggestions["status"] | undefined;
}

export async function listSuggestions(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
  { status = null, before, limit }: SuggestionQuery,
): Promise<SuggestionPage> {
  await getRoomRow(ctx, roomId);
  const listed = { status, before, limit };
  const page = await ctx.rooms.stub(roomId).listSuggestions(ctx.accountId, document, listed);
  if (page === null) throw notFound("Rooms", "Document");
  return page;
}

async function describe(
  ctx: LiveRoomContext,
  { roomId, document, suggestionId }: SuggestionPlace,
): Promise<SuggestionDetails> {
  const found = await ctx.rooms.stub(roomId).describeSuggestion(ctx.accountId, document, suggestionId);
  if (found === null) throw notFound("Rooms", "Suggestion");
  return found;
}

/** The documents that a suggestion compares. NOT_FOUND when one of them went meanwhile. */
async function readVersions(
  ctx: LiveRoomContext,
  place: SuggestionPlace,
  { suggestion, baseSeq, forkId, secret }: SuggestionDetails,
) {
  const { roomId } = place;
  const [base, fork, current] = await Promise.all([
    ctx.rooms.readVersion(roomId, ctx.accountId, suggestion.fork, baseSeq, forkId),
    readDocument(ctx, { roomId, document: suggestion.fork }, null),
    readDocument(ctx, place, null),
  ]);
  if (base === null) throw notFound("Rooms", "Suggestion");
  return { base: mergeMany(base), fork, current, secret };
}

interface ReadSuggestion {
  readonly suggestion: Suggestion;
  readonly seq: number;
  readonly parts: SuggestedPart[];
}

/** Compares a pending suggestion with the document as it is. CONFLICT when one of them is too large by now. */
export async function readSuggestion(ctx: LiveRoomContext, place: SuggestionPlace): Promise<ReadSuggestion> {
  await getRoomRow(ctx, place.roomId);
  const found = await describe(ctx, place);
  const { suggestion, seq } = found;
  if (found.parts !== null) return { suggestion, seq, parts: JSON.parse(found.parts) as SuggestedPart[] };
  const read = partsOf(await readVersions(ctx, place, found));
  const parts = read.map((part) => presentPart(part, part.isStale ? "stale" : "pending"));
  const isStale = parts.length > 0 && read.every((part) => part.isStale);
  return { suggestion: isStale ? { ...suggestion, status: "stale" } : suggestion, seq, parts };
}

/** FORBIDDEN for others than its author; CONFLICT as for edits, and after the review. */
export async function editSuggestion(
  ctx: LiveRoomContext,
  place: SuggestionPlace,
  list: Parameters<typeof editWithin>[2],
  requestId: string | undefined,
): Promise<EditedDocument> {
  await requireOpenRoom(ctx, place.roomId);
  const { suggestion } = await describe(ctx, place);
  return editWithin(ctx, { roomId: place.roomId, document: suggestion.fork }, list, requestId);
}

/**
 * Accepts parts, and rejects the rest. CONFLICT for another `seq` than that of the fork, a reviewed suggestion, a stale or
 * unknown part, and a document that changes all the time.
 */
export async function reviewSuggestion(
  ctx: LiveRoomContext,
  place: SuggestionPlace,
  { seq, accept, comment }: z.infer<typeof SuggestionReview>,
): Promise<Omit<ReadSuggestion, "seq">> {
  const { roomId, document, suggestionId } = place;
  await requireOpenRoom(ctx, roomId);
  const review = {
    author: authorOf(ctx.actor),
    writer: writerOf(ctx),
    cause: causeOf(ctx.actor),
    trace: ctx.trace,
  };
  const accepted = accept === "all" ? accept : new Set(accept);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const found = await describe(ctx, place);
    const { documentId, documentSeq } = found;
    if (found.parts !== null) throw conflict("The suggestion was reviewed already");
    if (found.seq !== seq) throw conflict("The suggestion has changed since you read it; read it again");
    const { acceptance, parts: all } = await comparisonOf(ctx, place, found, accepted);
    const isAccepted = ({ id }: CorePart) => accepted === "all" || accepted.has(id);
    const parts = keptParts(all, (part) => (isAccepted(part) ? "accepted" : "rejected"));
    const counts = { accepted: all.filter(isAccepted).length, parts: all.length };
    const suggestion = await ctx.rooms.reviewSuggestion(roomId, ctx.accountId, document, suggestionId, {
      ...{ ...review, seq, documentId, comment: comment ?? null, parts, counts },
      accepted: acceptance && { ...acceptance, basedOn: documentSeq },
    });
    if (suggestion !== null) return { suggestion, parts };
  }
  throw conflict("The document changes all the time; try again in a moment");
}

interface Comparison {
  readonly acceptance: Pick<ReviewedUpdate, "update" | "guard"> | null;
  readonly parts: readonly CorePart[];
}

/** The update that the document accepts, and all parts. A suggestion that cannot be compared can be rejected without its parts. */
async function comparisonOf(
  ctx: LiveRoomContext,
  place: SuggestionPlace,
  found: SuggestionDetails,
  accepted: ReadonlySet<string> | "all",
): Promise<Comparison> {
  const versions = await readVersions(ctx, place, found);
  if (accepted !== "all" && accepted.size === 0)
    try {
      return { acceptance: null, parts: partsOf(versions) };
    } catch (error) {
      if (error instanceof AppError && error.code === "CONFLICT") return { acceptance: null, parts: [] };
      throw error;
    }
  const acceptance = acceptingUpdate(versions, accepted);
  if (acceptance === null) return { acceptance, parts: partsOf(versions) };
  const { update, parts, guard, isFragile } = acceptance;
  return { acceptance: { update, guard: isFragile ? null : guard }, parts };
}

/** Withdraws a pending suggestion: for its author, and for those who may write documents. */
export async function withdrawSuggestion(ctx: LiveRoomContext, place: SuggestionPlace): Promise<void> {
  const { roomId, document, suggestionId } = place;
  await requireOpenRoom(ctx, roomId);
  await describe(ctx, place);
  const mayWrite = refusalTo(ctx, "documents:write") === null;
  const by = { author: authorOf(ctx.actor), writer: writerOf(ctx), mayWrite };
  await ctx.rooms.withdrawSuggestion(roomId, ctx.accountId, document, suggestionId, by);
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

type Outcome = (part: CorePart) => SuggestedPart["state"];

const presentPart = (
  { isStale: _, path, ...part }: CorePart,
  state: SuggestedPart["state"],
): SuggestedPart => ({
  ...part,
  path: [...path],
  state,
});

const cutText = (text: string): string => cut(text, SUGGESTION_LIMITS.keptText);

/** The first parts as they are kept, with the beginnings of their texts and names. */
function keptParts(parts: readonly CorePart[], outcomeOf: Outcome): SuggestedPart[] {
  let left: number = SUGGESTION_LIMITS.keptBytes;
  const kept = parts.slice(0, SUGGESTION_LIMITS.keptParts).map((part) => ({
    ...presentPart(part, outcomeOf(part)),
    root: cutText(part.root),
    path: part.path.map((step) => (typeof step === "string" ? cutText(step) : step)),
    before: part.before && cutText(part.before),
    after: part.after && cutText(part.after),
  }));
  const over = kept.findIndex((part) => {
    left -= byteLength(JSON.stringify(part)) + 1;
    return left < 0;
  });
  return over < 0 ? kept : kept.slice(0, over);
}
