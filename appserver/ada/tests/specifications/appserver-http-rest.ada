with Appserver.HTTP.REST;

package Greetings_By_Name is

   use Appserver;

   function Handle (Request : HTTP.Request) return HTTP.Response;

end Greetings_By_Name;

package body Greetings_By_Name is

   use Appserver.HTTP;

   function Is_Name (Text : String) return Boolean is
     (for all C of Text => C in 'A' .. 'Z' | 'a' .. 'z');

   @1

   @2

   @3

   @4

   @5

end Greetings_By_Name;
