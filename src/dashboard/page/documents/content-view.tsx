/** The content of a document: as text, and its shared types as a tree. */
import { Tabs } from "@base-ui/react/tabs";
import { JsonTree, useShared } from "../ui/json-tree.tsx";
import type { DocumentRoot } from "./document.ts";

/** More text at once makes the page slow. */
const MAX_CHARACTERS = 200_000;

interface ContentViewProps {
  readonly roots: readonly DocumentRoot[];
}

export function ContentView({ roots }: ContentViewProps) {
  const shared = useShared(roots);
  const texts = shared.filter(({ text }) => text !== null);
  if (shared.length === 0) return <p className="soft">It has no content.</p>;
  return (
    <Tabs.Root defaultValue={texts.length > 0 ? "text" : "json"} className="document-content">
      <Tabs.List className="tabs" aria-label="Forms of the content">
        <Tabs.Tab value="text" className="tab">
          Text
        </Tabs.Tab>
        <Tabs.Tab value="json" className="tab">
          Shared types
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="text" className="tab-panel">
        {texts.length === 0 && <p className="soft">None of its shared types is text.</p>}
        {texts.map(({ name, text }) => (
          <Text key={name} name={name} text={text ?? ""} isAlone={texts.length === 1} />
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="json" className="tab-panel">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
        <section className="scroll json-tree" tabIndex={0} aria-label="Shared types">
          {shared.map(({ name, kind, json }) => (
            <JsonTree key={`${kind} ${name}`} name={`${name} (${kind})`} value={json} isOpen />
          ))}
        </section>
      </Tabs.Panel>
    </Tabs.Root>
  );
}

interface TextProps {
  readonly name: string;
  readonly text: string;
  readonly isAlone: boolean;
}

function Text({ name, text, isAlone }: TextProps) {
  const left = text.length - MAX_CHARACTERS;
  return (
    <>
      {!isAlone && <h3>{name}</h3>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className="scroll document-text" tabIndex={0} aria-label={`Text of ${name}`}>
        {text === "" ? <span className="soft">Empty.</span> : text.slice(0, MAX_CHARACTERS)}
      </section>
      {left > 0 && <p className="soft">{left.toLocaleString("en")} more characters are in the download.</p>}
    </>
  );
}
