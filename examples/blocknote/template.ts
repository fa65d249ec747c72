/** What a document of BlockNote begins with: one empty block, as the editor itself writes it. */
import * as Y from "yjs";

/**
 * Two editors that open an empty document would each write this block, and Yjs would keep both, of which BlockNote
 * drops one with what is in it. So the back end seeds it, with all attributes and a text to type into: what an editor
 * misses, it adds, and two would add it twice.
 */
export function firstBlock(): Uint8Array {
  const doc = new Y.Doc();
  const paragraph = new Y.XmlElement("paragraph");
  paragraph.setAttribute("backgroundColor", "default");
  paragraph.setAttribute("textColor", "default");
  paragraph.setAttribute("textAlignment", "left");
  paragraph.insert(0, [new Y.XmlText()]);
  const container = new Y.XmlElement("blockContainer");
  container.setAttribute("id", "first");
  container.insert(0, [paragraph]);
  const group = new Y.XmlElement("blockGroup");
  group.insert(0, [container]);
  doc.getXmlFragment("blocks").insert(0, [group]);
  return Y.encodeStateAsUpdate(doc);
}
