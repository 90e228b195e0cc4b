// Swagger UI as its package has it, set up by its options.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

// Names for what a screen reader could not name otherwise. axe finds them missing: test/http/pages-browser.spec.ts.
const labels = ({ React: { createElement } }) => {
  const withProps = (of) => (Component) => (props) => createElement(Component, { ...props, ...of(props) });
  return {
    wrapComponents: {
      Button: withProps(({ children }) => (typeof children === 'string' ? { 'aria-label': undefined } : {})),
      CloseIcon: withProps(() => ({ role: 'img', 'aria-label': 'Close', 'aria-hidden': false })),
      TextArea: withProps(() => ({ 'aria-label': 'Request body' })),
      Select: (Select) => (props) => createElement('label', { 'aria-label': 'Value' }, createElement(Select, props)),
      // A landmark, and a heading, for screen readers alone, between the title, an h1, and the tags, each an h3.
      InfoContainer: (Info) => (props) => {
        const heading = createElement('h2', { style: { position: 'absolute', clipPath: 'inset(50%)' } }, 'Operations');
        return createElement('section', { 'aria-label': 'About' }, createElement(Info, props), heading);
      },
      // A link inside of a button. The button sets the address, too.
      DeepLink: (Link) => (props) =>
        props.path.includes('/') ? createElement('span', null, props.text) : createElement(Link, props),
    },
  };
};

// The index, or Swagger UI at the operation that the address names. Its script and style load when they are first needed.
const index = document.getElementById('index');
const reference = document.getElementById('reference');
const { content } = document.getElementById('swagger-ui');
const show = () => {
  const script = content.querySelector('script');
  const isOperation = location.hash.startsWith('#/');
  if (isOperation && script) {
    script.onload = () => {
      show();
      SwaggerUIBundle({
        url: '/openapi.json',
        domNode: reference,
        plugins: [labels],
        deepLinking: true,
        tryItOutEnabled: true,
        displayRequestDuration: true,
        defaultModelsExpandDepth: 0,
        syntaxHighlight: { activated: false },
      });
    };
    document.head.prepend(content);
  } else {
    index.hidden = isOperation;
    reference.hidden = !isOperation;
  }
};
addEventListener('hashchange', show);
show();
