/** The current organization, with queries and actions on its API. */

import type { Me, OwnOrganization } from "@atrium/contract/rest/people.ts";
import {
  keepPreviousData,
  type QueryKey,
  type UseQueryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { AtriumError, AtriumServer, type UserInput, type UserWithToken } from "atrium/server";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo } from "react";
import { ME } from "./api.ts";
import { isUnreachable } from "./connection.ts";
import { fetchOrTake } from "./early-answers.ts";
import { adviceOn } from "./errors.ts";
import { readRefusal } from "./messages.ts";
import { notify, type Toast } from "./toasts.ts";

interface Current {
  readonly me: Me;
  readonly organization: OwnOrganization;
  readonly atrium: AtriumServer;
}

/** Null on the pages outside of an organization. */
export const CurrentContext = createContext<Current | null>(null);

interface OrganizationProviderProps {
  readonly me: Me;
  readonly organization: OwnOrganization;
  readonly children: ReactNode;
}

export function OrganizationProvider({ me, organization, children }: OrganizationProviderProps) {
  const accountId = organization.id;
  const atrium = useMemo(
    () => new AtriumServer({ serverUrl: location.origin, accountId, apiKey: null, fetch: fetchOrTake }),
    [accountId],
  );
  useEffect(() => localStorage.setItem("organization", accountId), [accountId]);
  const current = useMemo(() => ({ me, organization, atrium }), [me, organization, atrium]);
  return <CurrentContext value={current}>{children}</CurrentContext>;
}

export function useCurrent(): Current {
  const current = useContext(CurrentContext);
  if (current === null) throw new Error("useCurrent must be used within OrganizationProvider");
  return current;
}

/** True when the person may manage members, invitations and API keys. */
export const useIsOwner = (): boolean => useCurrent().organization.role === "owner";

/** Returns a function that prefixes query keys with the organization. */
export function useKey(): (...parts: QueryKey) => QueryKey {
  const { id } = useCurrent().organization;
  return useCallback((...parts) => [id, ...parts], [id]);
}

/** Queries the API. Earlier data stay while data of another `key` load. */
export function useApiQuery<Data>(
  key: QueryKey,
  read: (atrium: AtriumServer) => Promise<Data>,
  options: Omit<UseQueryOptions<Data>, "queryKey" | "queryFn"> = {},
) {
  const { atrium } = useCurrent();
  return useQuery({
    placeholderData: keepPreviousData,
    ...options,
    queryKey: useKey()(...key),
    queryFn: () => read(atrium),
  });
}

export interface ActionOptions<Result, Input = void> {
  /** The toast after success; none when the page shows the result anyway. */
  readonly toast?: string | ((result: Result) => string);
  /** The request that takes the action back, for a button in the toast. */
  readonly undo?: ((atrium: AtriumServer, result: Result, input: Input) => Promise<unknown>) | undefined;
  /** True when the request succeeded but its result is a failure, such as a failed delivery. */
  readonly isFailure?: (result: Result) => boolean;
  /** Prefixes of the query keys to refresh. */
  readonly refreshes?: readonly QueryKey[];
  /** Called after the refresh. */
  readonly onDone?: (result: Result) => void;
  /** True when neither a form nor a dialog shows the error. */
  readonly notifiesErrors?: boolean;
}

/** A mutation that notifies the person of its result and refreshes the queries that it affects. */
export function useAction<Result, Input = void>(
  act: (atrium: AtriumServer, input: Input) => Promise<Result>,
  options: ActionOptions<Result, Input> = {},
) {
  const { toast, undo, isFailure, refreshes = [], onDone, notifiesErrors = false } = options;
  const { atrium } = useCurrent();
  const { refresh, confirm } = useConfirmation(refreshes);
  return useMutation({
    mutationFn: (input: Input) => act(atrium, input),
    onSuccess: async (result, input) => {
      if (toast !== undefined) {
        const title = typeof toast === "string" ? toast : toast(result);
        const back = undo && (() => undo(atrium, result, input));
        confirm({ title, isError: isFailure?.(result) }, back);
      }
      await refresh();
      onDone?.(result);
    },
    onError: (error) => {
      if (!notifiesErrors || isUnreachable(error)) return;
      complain(error);
      void refresh();
    },
  });
}

function complain(error: Error): void {
  if (isUnreachable(error)) return;
  const title = readRefusal(error.message)?.problem ?? error.message;
  notify({ title, description: adviceOn(error), isError: true });
}

/** Refreshes the queries with these prefixes of keys, and confirms an action that changed them. */
export function useConfirmation(refreshes: readonly QueryKey[]) {
  const key = useKey();
  const queries = useQueryClient();
  const refresh = () => {
    const keys = refreshes.map((part) => (part === ME ? ME : key(...part)));
    return Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
  const takeBack = async (undo: () => Promise<unknown>) => {
    await undo().then(() => notify({ title: "Undone" }), complain);
    await refresh();
  };
  /** `undo` takes the action back. */
  const confirm = (toast: Pick<Toast, "title" | "isError">, undo?: () => Promise<unknown>) =>
    notify({ ...toast, undo: undo && (() => void takeBack(undo)) });
  return { refresh, confirm };
}

/** The result of a read; null for NOT_FOUND. */
export async function orNull<Data>(read: Promise<Data>): Promise<Data | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof AtriumError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

/** A user of a room that the dashboard needs, found by its custom ID and created once. */
export async function findOrCreateUser(
  atrium: AtriumServer,
  input: UserInput & { readonly customId: string },
): Promise<UserWithToken> {
  try {
    return await atrium.users.create(input);
  } catch (error) {
    if (!(error instanceof AtriumError && error.code === "CONFLICT")) throw error;
    return (await atrium.users.getByCustomId(input.roomId, input.customId)).user;
  }
}
