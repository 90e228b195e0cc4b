// The reference: Swagger UI as its package ships it, told to stay at home and mended where a keyboard or a screen
// reader would get stuck (test/http/pages-browser.spec.ts has axe look).

// Swagger UI has a dark style of its own, for a class that its own top bar, which is not used here, would set.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

/** Lines of code that are shown without scrolling. */
const SHORT = 18;

const mended = ({ React: { createElement } }) => ({
  wrapComponents: {
    // The policy of this page lets it call this server alone: there is nothing to choose.
    ServersContainer: () => () => null,
    // The path of an operation is a link within a button. The button sets the address as well.
    DeepLink: (Link) => (props) =>
      props.path.includes('/') ? createElement('span', null, props.text) : createElement(Link, props),
    // Landmarks, by which screen readers find their way.
    InfoContainer: (Info) => (props) =>
      createElement('section', { 'aria-label': 'About this API' }, createElement(Info, props)),
    authorizationPopup: (Popup) => (props) =>
      createElement('div', { role: 'dialog', 'aria-modal': true, 'aria-label': 'Key' }, createElement(Popup, props)),
    CloseIcon: (Icon) => (props) =>
      createElement(Icon, { ...props, role: 'img', 'aria-label': 'Close', 'aria-hidden': false }),
    // Some are called otherwise than what stands on them.
    Button: (Button) => (props) =>
      createElement(Button, typeof props.children === 'string' ? { ...props, 'aria-label': undefined } : props),
    TextArea: (TextArea) => (props) => createElement(TextArea, { 'aria-label': 'Request body', ...props }),
    Select: (Select) => (props) =>
      createElement(
        'label',
        null,
        createElement('span', { className: 'unseen' }, 'Value'),
        createElement(Select, props),
      ),
    // What scrolls can be reached, and scrolled, by keyboard.
    SyntaxHighlighter: (Code) => (props) => {
      const code = createElement(Code, props);
      const isLong = String(props.children ?? '').split('\n').length > SHORT;
      const scroll = { className: 'scroll', role: 'group', 'aria-label': 'Code', tabIndex: 0 };
      return isLong ? createElement('div', scroll, code) : code;
    },
  },
});

SwaggerUIBundle({
  url: '/openapi.json',
  domNode: document.getElementById('reference'),
  plugins: [mended],
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The schemas, folded, below the operations.
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { theme: 'tomorrow-night' },
  // A key that is pasted is forgotten with the page: whoever opens the browser next should not find it there.
  persistAuthorization: false,
});
