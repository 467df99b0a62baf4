// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

/** A request that one thread began and another one may end, such as an asynchronous request. */
public final class DetachedRequest {

    private final Monitor monitor;
    private final TimedRequest request;

    DetachedRequest(Monitor monitor, TimedRequest request) {
        this.monitor = monitor;
        this.request = request;
    }

    /**
     * Ends the request, as {@link Monitor#end} does, but without the CPU time. Must be called once.
     *
     * @param status the status code of the response
     * @param path the path, whose first 120 characters are shown if this is one of the slowest
     *     requests
     */
    public void end(int status, String path) {
        monitor.end(request, status, path);
    }
}
