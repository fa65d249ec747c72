/** Routes of an organization's pages. */
import { Suspense, useEffect } from "react";
import { matchRoute, Route, Switch, useRouter } from "wouter";
import { PAGES } from "./pages.tsx";
import { Loading } from "./ui/loading.tsx";
import { NotFound } from "./ui/not-found.tsx";

export function OrganizationPages() {
  usePreloading();
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        {PAGES.map(({ path, Content }) => (
          <Route key={path} path={path} component={Content} />
        ))}
        <Route>
          <NotFound what="This page does not exist." />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Loads the code of a page as soon as a pointer or the focus reaches a link to it. */
function usePreloading(): void {
  const { parser, base } = useRouter();
  useEffect(() => {
    const onReach = ({ target }: Event) => {
      const link = target instanceof Element ? target.closest("a") : null;
      if (!link?.pathname.startsWith(`${base}/`)) return;
      const path = link.pathname.slice(base.length);
      const page = PAGES.find((one) => matchRoute(parser, one.path, path)[0]);
      // What does not arrive now is asked for again when the link is followed.
      page?.load().catch(() => undefined);
    };
    addEventListener("pointerover", onReach);
    addEventListener("focusin", onReach);
    return () => {
      removeEventListener("pointerover", onReach);
      removeEventListener("focusin", onReach);
    };
  }, [parser, base]);
}
