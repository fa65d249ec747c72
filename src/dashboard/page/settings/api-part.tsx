/** What a back end needs: the account ID, API keys, an end for users' tokens, and a first request. */
import type { ApiKey } from "atrium/server";
import { useCurrent, useIsOwner, useKey } from "../data/organization.tsx";
import { useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Identifier } from "../ui/identifier.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/selection-bar.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { firstRequest } from "./first-request.ts";
import { NewKey } from "./new-key.tsx";
import { useEndAllTokens, useKeyActions, useKeys, useRevokeKey } from "./use-keys.ts";

export function ApiPart() {
  const { organization } = useCurrent();
  const isOwner = useIsOwner();
  const filters = useFilters();
  const { limit, offset } = filters;
  const { data, error, refetch } = useKeys({ limit, offset });
  return (
    <>
      <section aria-labelledby="account-id">
        <h2 id="account-id">Account ID</h2>
        <Identifier value={organization.id} what="the account ID" isWhole />
      </section>
      <section aria-labelledby="keys">
        <div className="title-row">
          <h2 id="keys">API keys</h2>
          {isOwner && <NewKey />}
        </div>
        {!isOwner && <p className="soft">Only owners can create and revoke API keys.</p>}
        <ErrorMessage error={error} onRetry={refetch} />
        {data === undefined && !error && <Loading />}
        {data && <KeyTable keys={data.api_keys} isOwner={isOwner} />}
        {data?.total === 0 && (
          <p className="soft">No API keys yet. Your back end needs one to call the API.</p>
        )}
        {data && <Pager filters={filters} total={data.total} />}
      </section>
      {isOwner && <TokenEnding />}
      <section aria-labelledby="first-request">
        <h2 id="first-request">Your first request</h2>
        <p className="soft">Creates a room. Replace YOUR_API_KEY with an API key.</p>
        <CodeBlock what="The request" text={firstRequest(location.origin, organization.id, "YOUR_API_KEY")} />
        <p className="soft">
          Read more in the <a href="/docs">documentation</a>.
        </p>
      </section>
    </>
  );
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly isOwner: boolean;
}

function KeyTable({ keys, isOwner }: KeyTableProps) {
  const key = useKey();
  const selection = useSelection(keys, ({ id }) => id);
  const actions = useKeyActions();
  return (
    <>
      {keys.length > 0 && (
        <Table
          label="List of API keys"
          columns={["Name", "Key", "Created", "Last used", "!Actions"]}
          selection={isOwner ? selection : undefined}
        >
          {keys.map((one) => (
            <tr key={one.id} data-selected={selection.has(one.id) || undefined}>
              {isOwner && <SelectCell selection={selection} id={one.id} name={one.name} />}
              <th scope="row">{one.name}</th>
              <td>
                <code>
                  {one.prefix}…{one.last_four}
                </code>
              </td>
              <td>
                <Time at={one.created_at} />
              </td>
              <td>
                {one.last_used_at === null ? (
                  <span className="soft">never</span>
                ) : (
                  <Time at={one.last_used_at} />
                )}
              </td>
              <td className="row-actions">{isOwner && <Revocation apiKey={one} />}</td>
            </tr>
          ))}
        </Table>
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "API key", many: "API keys" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("keys")]}
      />
    </>
  );
}

function Revocation({ apiKey }: { readonly apiKey: ApiKey }) {
  const revoke = useRevokeKey(apiKey.id);
  return (
    <ConfirmButton
      label="Revoke"
      accessibleName={`Revoke ${apiKey.name}`}
      variant="quiet"
      title={`Revoke ${apiKey.name}?`}
      confirmLabel="Revoke key"
      act={revoke}
    >
      <p>Requests with this key fail within 10 seconds. This cannot be undone.</p>
    </ConfirmButton>
  );
}

function TokenEnding() {
  const end = useEndAllTokens();
  return (
    <section aria-labelledby="tokens">
      <div className="title-row">
        <h2 id="tokens">User tokens</h2>
        <ConfirmButton
          label="End all user tokens"
          title="End all user tokens?"
          confirmLabel="End tokens"
          act={end}
        >
          <p>
            All users of all rooms are disconnected, and need a new token to join again. This cannot be
            undone.
          </p>
        </ConfirmButton>
      </div>
      <p className="soft">End the tokens of all users, for example after a leak.</p>
    </section>
  );
}
