/** When a part of a page that is not needed at once may come: the page has been painted and is idle, and the part is in view. */

/** Resolves when the page has loaded and has nothing else to do. */
export const idle = (): Promise<void> =>
  new Promise((resolve) => {
    const wait = () =>
      "requestIdleCallback" in window ? requestIdleCallback(() => resolve()) : setTimeout(resolve);
    if (document.readyState === "complete") wait();
    else addEventListener("load", wait, { once: true });
  });

/** Resolves when a part of the element is in view, or this near to it (CSS margin); one that a narrow screen leaves out never is. */
export const inView = (element: Element, rootMargin = "0px"): Promise<void> =>
  new Promise((resolve) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        resolve();
      },
      { rootMargin },
    );
    observer.observe(element);
  });

/** A code that no one guesses, of 12 hexadecimal digits. */
export const newCode = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
