/** What the calls of `AtriumServer.documents` take. */

/** What a shared type is: the document itself does not say it. */
export interface ContentOptions extends ReadOptions {
  /** `text` by default. Text and XML are returned as a string. */
  readonly type?: "text" | "map" | "array" | "xml";
  /** The name of the shared type; `default` if it is left out, which is that of Tiptap. */
  readonly root?: string;
}

/** Of what, and how much. */
export interface PreviewOptions extends ContentOptions {
  /** Of the content, in characters: up to 4,194,304. */
  readonly maxLength: number;
}

/** Which page of a document's history. */
export interface HistoryOptions {
  /** 50 if it is left out, 100 at most. */
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly before?: number;
}

/** What to read of a document. */
export interface ReadOptions {
  /** The number of a version; the document as it is if it is left out. */
  readonly version?: number;
}

/** Which versions to compare, and of which shared type. */
export interface CompareOptions extends Pick<ContentOptions, "type" | "root"> {
  /** The number of the earlier version; the document before anything was written if it is left out. */
  readonly from?: number;
  /** The number of the later version; the document as it is if it is left out. */
  readonly to?: number;
}

/** Whose changes to take back, and which. */
export interface RollbackOptions extends Pick<CompareOptions, "from" | "to"> {
  readonly userId: string;
}
