with Appserver.HTTP;

package Greeting_By_Query is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response;

end Greeting_By_Query;

package body Greeting_By_Query is

   @1

end Greeting_By_Query;
