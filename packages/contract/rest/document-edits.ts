/** Edits of documents by programs: places in a text, what is done there, and blocks to read with places of their own. */

import * as z from "zod";
import { Json } from "../operations/values.ts";
import { DocumentAuthor } from "../resources/author.ts";
import { SHARED_TYPES } from "../shared-types.ts";
import { recordOf, text } from "../text.ts";

/** Bounds of one list of edits. */
export const EDIT_LIMITS = {
  edits: 100,
  /** Characters of a quotation, and of the text beside it. */
  quoteLength: 10_000,
  /** Characters that one edit inserts. */
  insertedLength: 100_000,
  /** Bytes of one formatting, or of the attributes of a block, as JSON. */
  formatBytes: 4_096,
  /** Blocks that one answer lists. */
  blocks: 1_000,
  /** Blocks that an answer shows as changed meanwhile, with so many characters each. */
  changedBlocks: 20,
  shownText: 200,
} as const;

const Quoted = text(1, EDIT_LIMITS.quoteLength);

/** A position in a text: a place that was read, the encoding of a relative position of Yjs, in Base64. */
export const Anchor = z
  .base64()
  .max(1024)
  .meta({ description: "An `anchor` or `end` of a block, or an encoded relative position of Yjs." });

const Quote = z
  .strictObject({
    quote: Quoted.meta({ description: "Text of one block, exactly.", example: "the old name" }),
    before: Quoted.optional().meta({ description: "The text directly before it." }),
    after: Quoted.optional().meta({ description: "The text directly after it." }),
    side: z.enum(["before", "after"]).optional().meta({
      description:
        "The side of the quotation at which `insert` writes, `after` if it is left out. Other edits concern the quotation.",
    }),
  })
  .meta({ id: "QuotedPlace" });

const Anchored = z
  .strictObject({
    anchor: Anchor,
    end: Anchor.optional().meta({
      description: "The end of the stretch that is deleted, replaced or formatted; in the same block.",
    }),
  })
  .meta({ id: "AnchoredPlace" });

const Edge = z.enum(["start", "end"]).meta({ description: "The start or the end of the whole content." });

/** The place of an edit. */
export const Place = z.union([Edge, Quote, Anchored]).meta({ id: "EditPlace" });
export type Place = z.infer<typeof Place>;
/** A place as it is sent. */
export type EditPlace = z.input<typeof Place>;

const jsonRecord = (id: string, description: string) =>
  recordOf(z.string().min(1).max(255), Json)
    .refine((value) => JSON.stringify(value).length <= EDIT_LIMITS.formatBytes, {
      error: `must have at most ${EDIT_LIMITS.formatBytes} characters as JSON`,
    })
    .meta({ id, description, override: { type: "object", additionalProperties: true } });

const Format = jsonRecord(
  "TextFormat",
  'Formats by name, as the editor keeps them, such as `{ "bold": true }` or `{ "bold": {} }` (Tiptap); null ends one.',
);

const Block = z
  .strictObject({
    name: text(1, 255).meta({ description: "The name of the element.", example: "paragraph" }),
    attributes: jsonRecord("BlockAttributes", "Attributes of the element.").optional(),
  })
  .meta({
    id: "EditBlock",
    description:
      "Writes into new blocks beside the block of the place, one for each paragraph of the text (between empty lines). Elements around that block are made again.",
  });

const at = Place;

/** One edit. */
export const Edit = z
  .union([
    z.strictObject({
      at,
      insert: text(1, EDIT_LIMITS.insertedLength).meta({ example: "A sentence." }),
      format: Format.optional(),
      block: Block.optional(),
    }),
    z.strictObject({ at, delete: z.literal(true) }),
    z.strictObject({
      at,
      replace: text(0, EDIT_LIMITS.insertedLength).meta({
        description: "The new text.",
        example: "the new name",
      }),
    }),
    z.strictObject({ at, format: Format }),
  ])
  .meta({ id: "DocumentEdit" });
export type Edit = z.infer<typeof Edit>;
/** An edit as it is sent. */
export type DocumentEdit = z.input<typeof Edit>;

/** The shared type that is edited, by its name. */
export const EditedRoot = z.object({
  root: text(1, 255).default("default").meta({ description: "The name of the shared type." }),
  type: z
    .enum(SHARED_TYPES)
    .extract(["text", "xml"])
    .default("text")
    .meta({ description: "`text`: a `Y.Text`. `xml`: the XML of an editor such as Tiptap or BlockNote." }),
});
export type EditedRoot = z.infer<typeof EditedRoot>;

/** A paragraph, heading or line, to read and to point at. */
export const DocumentBlock = z
  .object({
    anchor: z.string().meta({ description: "The place before its first character." }),
    end: z.string().meta({ description: "The place after its last character." }),
    name: z.string().meta({ description: "The name of its element; `line` in a text.", example: "heading" }),
    attributes: z.record(z.string(), z.unknown()).meta({
      description: "The attributes of its element; none where they have more than 4,096 characters as JSON.",
      example: { level: 2 },
    }),
    depth: z.int().min(0).meta({ description: "The number of elements around it.", example: 0 }),
    text: z.string().meta({ description: "Its characters, without formatting.", example: "Plans" }),
  })
  .meta({ id: "DocumentBlock" });
export type DocumentBlock = z.infer<typeof DocumentBlock>;

/** A block in which someone wrote or deleted since a program has read it. */
export const ChangedBlock = z
  .object({
    text: z.string().meta({
      description: `Its present text, at most ${EDIT_LIMITS.shownText} characters.`,
      example: "Plans for spring",
    }),
    inserted: z.int().min(0).meta({ description: "Characters that are new.", example: 11 }),
    deleted: z.int().min(0).meta({ description: "Characters that are gone.", example: 0 }),
    authors: z.array(DocumentAuthor).meta({ description: "The authors of these changes." }),
  })
  .meta({ id: "ChangedBlock" });
export type ChangedBlock = z.infer<typeof ChangedBlock>;

/** The document as a program has read it. */
export const ReadBase = z.union([z.int().min(0), z.base64().min(1).max(65_536)]).meta({
  description:
    "The document as you have read it: the `base` of its blocks or of an edit, the number of a version, or a state vector of Yjs in Base64. A stretch that others have changed since is a conflict, and the response says what changed.",
});
export type ReadBase = z.infer<typeof ReadBase>;

/** A list of edits. */
export const DocumentEdits = EditedRoot.extend({
  edits: z
    .array(Edit)
    .min(1)
    .max(EDIT_LIMITS.edits)
    .meta({ description: "All are applied in their order, or none is." }),
  base: ReadBase.optional(),
})
  .strict()
  .meta({
    id: "DocumentEdits",
    example: { edits: [{ at: "end", insert: "A sentence." }] },
  });

export type DocumentEditsInput = z.input<typeof DocumentEdits>;

/** The outcome of a list of edits. */
export const EditedDocument = z
  .object({
    seq: z.int().min(0).meta({ description: "The number of the document's latest update.", example: 18 }),
    base: z.int().min(0).meta({
      description: "The number up to which `changed` looks: the `base` of an edit that follows.",
      example: 18,
    }),
    applied: z.boolean().meta({ description: "False if the text was like that already." }),
    edits: z
      .array(
        z.object({
          text: z.string().meta({
            description: `The text around the place after the edit, at most ${EDIT_LIMITS.shownText} characters.`,
          }),
          end: z.string().nullable().meta({
            description:
              "The place directly after what the edit wrote: an `anchor` at which the next piece of a text that is being generated goes on. Null for edits that write nothing.",
          }),
        }),
      )
      .meta({ description: "One entry for each edit, in their order." }),
    changed: z
      .array(ChangedBlock)
      .nullable()
      .meta({
        description: `The blocks that others changed since \`base\`, at most ${EDIT_LIMITS.changedBlocks}; null without \`base\`.`,
      }),
  })
  .meta({ id: "EditedDocument" });
export type EditedDocument = z.infer<typeof EditedDocument>;

/** Blocks of a document, in their order. */
export const ReadBlocks = z
  .object({
    base: z.int().min(0).meta({
      description: "The number of the latest update: goes with an edit, to say that this has been read.",
      example: 17,
    }),
    blocks: z.array(DocumentBlock).meta({ description: "The blocks, in their order." }),
    next: z.string().nullable().meta({
      description: "Goes into `after` to read the blocks that follow; null after the last one.",
      example: null,
    }),
  })
  .meta({ id: "DocumentBlocks" });
export type ReadBlocks = z.infer<typeof ReadBlocks>;
