/** Documents as they are presented. */

import type { ChangedBlock, EditedDocument } from "@atrium/contract/rest/document-edits.ts";
import type {
  DocumentChange,
  DocumentContent,
  DocumentDetails,
  DocumentSegment,
  DocumentSummary,
  DocumentVersion,
  TrailEntry,
} from "@atrium/contract/rest/documents.ts";
import { MAX_LISTED_PARTICIPANTS } from "@atrium/contract/rest/documents.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { bytesToBase64 } from "../../../platform/crypto/encoding.ts";
import type { Change } from "../../../room/documents/compare/compare.ts";
import type { Segment } from "../../../room/documents/compare/compare-text.ts";
import type { Rendered } from "../../../room/documents/content/render-content.ts";
import type { AppliedEdit } from "../../../room/documents/edits/apply-edits.ts";
import type { ChangedText } from "../../../room/documents/edits/changed-blocks.ts";
import {
  type DocumentDetails as DescribedDocument,
  type ListedDocument,
  presentAuthor,
  type TrailEntry as StoredEntry,
  type VersionInfo,
} from "../../../room/types/documents.ts";

export const presentDocument = (document: ListedDocument): DocumentSummary => ({
  name: document.name,
  bytes: document.bytes,
  seq: document.seq,
  created_at: presentTime(document.createdAt),
  updated_at: presentTime(document.updatedAt),
  participants: document.userIds.length,
  participant_ids: document.userIds.slice(0, MAX_LISTED_PARTICIPANTS),
});

export const presentDetails = (document: DescribedDocument): DocumentDetails => ({
  ...presentDocument(document),
  versions: document.versions,
  stored_bytes: document.storedBytes,
});

export const presentContent = ({ content, isTruncated, types }: Rendered): DocumentContent => ({
  content,
  truncated: isTruncated,
  types: [...types],
});

const presentSegment = ({ authors, ...segment }: Segment): DocumentSegment => ({
  ...segment,
  authors: authors.map(presentAuthor),
});

export const presentChange = ({ path, segments, authors, ...change }: Change): DocumentChange => ({
  path: [...path],
  ...change,
  segments: segments === null ? null : segments.map(presentSegment),
  authors: authors.map(presentAuthor),
});

export const presentEntry = ({ authors, firstAt, at, seq, updates, bytes }: StoredEntry): TrailEntry => ({
  author: authors[0] === undefined || authors.length > 1 ? null : presentAuthor(authors[0]),
  authors: authors.map(presentAuthor),
  first_at: presentTime(firstAt),
  last_at: presentTime(at),
  seq,
  updates,
  bytes,
});

export const presentVersion = ({
  seq,
  name,
  namedBy,
  authors,
  at,
  createdAt,
}: VersionInfo): DocumentVersion => ({
  version: seq,
  name,
  named_by: namedBy && presentAuthor(namedBy),
  authors: authors.map(presentAuthor),
  updated_at: presentTime(at),
  created_at: presentTime(createdAt),
});

export const presentChangedBlock = ({ authors, ...block }: ChangedText): ChangedBlock => ({
  ...block,
  authors: authors.map(presentAuthor),
});

export const presentEdit = ({ text, end }: AppliedEdit): EditedDocument["edits"][number] => ({
  text,
  end: end && bytesToBase64(end),
});
