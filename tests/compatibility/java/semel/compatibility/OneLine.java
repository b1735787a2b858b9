package semel.compatibility;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Says in one line how each scenario went. */
public final class OneLine implements TestWatcher {
    @Override
    public void testSuccessful(ExtensionContext context) {
        System.out.println("ok " + context.getDisplayName());
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        System.out.println("FAILED " + context.getDisplayName());
    }
}
