/** Samples that connect, filled in with the person's own keys, until the first connection of a user. */
import { Tabs } from "@base-ui/react/tabs";
import { useIsOwner } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/copy.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { type Snippet, snippetsOf } from "./snippets.ts";
import { type QuickstartActions, useQuickstart } from "./use-quickstart.ts";

export function Quickstart() {
  const quickstart = useQuickstart();
  return (
    <section className="quickstart" aria-labelledby="quickstart">
      <div className="title-row">
        <h2 id="quickstart">Connect your application</h2>
        <p className="waiting" role="status">
          <span className="pulse" aria-hidden="true" />
          Waiting for your first connection …
        </p>
      </div>
      <Tabs.Root defaultValue="React">
        <Tabs.List className="tabs" aria-label="Ways to connect">
          {snippetsOf(quickstart.keys).map(({ name }) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippetsOf(quickstart.keys).map((snippet) => (
          <Tabs.Panel key={snippet.name} value={snippet.name} className="tab-panel">
            <Sample snippet={snippet} quickstart={quickstart} />
          </Tabs.Panel>
        ))}
      </Tabs.Root>
    </section>
  );
}

interface SampleProps {
  readonly snippet: Snippet;
  readonly quickstart: QuickstartActions;
}

function Sample({ snippet: { name, needs, install, text }, quickstart }: SampleProps) {
  const { keys, fillToken, fillKey } = quickstart;
  const isOwner = useIsOwner();
  const mayFill = needs === "token" || isOwner;
  const fill = needs === "token" ? fillToken : fillKey;
  return (
    <>
      {keys[needs] === null && mayFill && (
        <div className="fill">
          <p className="soft">
            {needs === "token"
              ? "The sample needs a user's token. Later your back end creates users; this one is for trying it out, for an hour."
              : "The sample needs an API key, which is shown here once, and a user to put into a room."}
          </p>
          <Button variant="primary" isBusy={fill.isPending} onClick={() => fill.mutate()}>
            {needs === "token" ? "Create a test user" : "Create an API key"}
          </Button>
        </div>
      )}
      {keys[needs] === null && !mayFill && (
        <p className="soft">Replace YOUR_API_KEY with a key that an owner of the organization gives you.</p>
      )}
      <ErrorMessage error={fill.error} />
      {install !== "" && <CodeBlock text={install} what={`the installation for ${name}`} />}
      <CodeBlock text={text} what={`the ${name} sample`} />
    </>
  );
}
