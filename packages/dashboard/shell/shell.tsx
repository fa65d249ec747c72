/** The frame of every page: organization, navigation, command palette and person. */
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useSignOut } from "../data/api.ts";
import { loadPage } from "../data/connection.ts";
import { useCurrent } from "../data/organization.tsx";
import { chooseTheme, THEMES, useTheme } from "../data/theme.ts";
import { Button, Icon, Monogram } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loading } from "../ui/feedback.tsx";
import { DropMenu, MenuItem } from "../ui/menu.tsx";
import { bringIntoView } from "../ui/page.tsx";
import { NAVIGATION_ITEMS, Shortcuts } from "./shortcuts.tsx";

const Finder = lazy(() => loadPage(() => import("./finder.tsx")));

export function Shell({ children }: { readonly children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const [path] = useLocation();
  const shown = useRef(path);
  // Keyboard and screen reader users continue at the top of the new page.
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (document.activeElement === document.body || !main.current?.contains(document.activeElement)) {
      main.current?.focus({ preventScroll: true });
    }
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="side">
        <div className="side-head">
          <a className="brand" href="/">
            Atrium
          </a>
          <div className="products">
            <a href="/docs">Docs</a>
            <a href="/demo">Demo</a>
          </div>
        </div>
        <OrganizationMenu />
        <Navigation />
        <div className="side-foot">
          <Palette />
          <Shortcuts />
          <PersonMenu />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** The main navigation. */
function Navigation() {
  const [path] = useLocation();
  const isHere = (place: string) => (place === "" ? path === "/" : path.startsWith(place));
  return (
    <nav aria-label="Pages">
      {NAVIGATION_ITEMS.map((place) => (
        <Link
          key={place.path}
          href={place.path}
          {...(isHere(place.path) && { "aria-current": "page", ref: bringIntoView })}
        >
          <Icon name={place.icon} />
          {place.name}
        </Link>
      ))}
    </nav>
  );
}

/** The menu that switches between organizations. */
function OrganizationMenu() {
  const { me, organization } = useCurrent();
  const [, go] = useLocation();
  return (
    <DropMenu
      label={`Organization: ${organization.name}`}
      className="organization"
      face={
        <>
          <Monogram name={organization.name} />
          <span className="organization-name">{organization.name}</span>
          <Icon name="up" />
        </>
      }
    >
      {me.organizations.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => go(`~/dashboard/${id}`)}>
          <Icon name={id === organization.id ? "check" : "overview"} />
          {name}
        </MenuItem>
      ))}
      <hr />
      <MenuItem onSelect={() => go("~/dashboard/new")}>
        <Icon name="plus" />
        New organization
      </MenuItem>
    </DropMenu>
  );
}

/** The documentation and the demo, which phones have no other place for. */
const Products = () =>
  matchMedia("(max-width: 52rem)").matches && (
    <>
      <MenuItem onSelect={() => location.assign("/docs")}>Docs</MenuItem>
      <MenuItem onSelect={() => location.assign("/demo")}>Demo</MenuItem>
      <hr />
    </>
  );

/** The menu of the signed-in person: profile, theme, sign out. */
function PersonMenu() {
  const { person } = useCurrent().me;
  const theme = useTheme();
  const signOut = useSignOut();
  const [, go] = useLocation();
  return (
    <DropMenu
      label={`Account: ${person.name}`}
      className="button quiet person"
      face={
        <>
          <Monogram name={person.name} isRound />
          <span className="person-name">{person.name}</span>
        </>
      }
    >
      <div className="soft small menu-note">{person.email}</div>
      <MenuItem onSelect={() => go("/settings/profile")}>Profile</MenuItem>
      <hr />
      <Products />
      {THEMES.map((value) => (
        <MenuItem key={value} isChecked={value === theme} onSelect={() => chooseTheme(value)}>
          {value.charAt(0).toUpperCase() + value.slice(1)}
        </MenuItem>
      ))}
      <hr />
      <MenuItem onSelect={() => signOut.mutate()}>Sign out</MenuItem>
    </DropMenu>
  );
}

/** Opens any page, room, person or file by name (Ctrl+K). Its finder is loaded when it is opened. */
function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <Button
        variant="quiet"
        icon="search"
        aria-label="Search pages, rooms, people and files"
        onClick={() => setOpen(true)}
      />
      <Dialog title="Go to" isOpen={isOpen} onClose={() => setOpen(false)}>
        <Suspense fallback={<Loading />}>
          <Finder onClose={() => setOpen(false)} />
        </Suspense>
      </Dialog>
    </>
  );
}
