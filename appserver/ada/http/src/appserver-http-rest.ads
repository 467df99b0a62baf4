--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Routes with typed parameters, and responses that are documents in the format that the client
--  prefers:
--
--     package Names is new REST.Text_Parameters ("name", Is_Valid => Is_Name);
--
--     procedure Hello (Name : String; Response : in out REST.Document_Response) is
--     begin
--        Response.Start_Document;
--        Response.Write_Entity ("greeting", "Hello " & Name & "!");
--        Response.End_Document;
--     end Hello;
--
--     procedure Hello_Route is new REST.With_Parameter (Names.Parameter, Hello);
--
--     Service : constant REST.Service := REST.Service_Of
--       ([REST.Route (Get, "/api/hello/{name}", Hello_Route'Access)]);
--
--     function Handle (Request : HTTP.Request) return HTTP.Response is (Service.Respond (Request));
--
--  Handle runs in any server profile. The response is 404 if a path has no route, 405 with the
--  field Allow if the path has routes only for other methods, 400 if a parameter is invalid, and
--  406 if the client accepts neither JSON nor XML. The response to OPTIONS contains the field
--  Allow. HEAD is handled like GET.

pragma Ada_2022;

with Appserver.Documents;
with Appserver.Text_Sinks;

package Appserver.HTTP.REST is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   ---------------
   -- Responses --
   ---------------

   type Document_Response
     (Request : not null access constant HTTP.Request;
      To      : not null access Text_Sinks.Text_Sink'Class;
      Form    : Documents.Format) is limited new Documents.Writer with private;
   --  The response of a handler. The status is 200 if the handler writes a document, and 204 if it
   --  writes nothing.

   procedure Set_Status (Self : in out Document_Response; Status : Status_Code)
     with Pre => Status < 300
                 or else raise Misuse_Error with "the status is an error or a redirection";
   --  Sets the status, which is 200 or 204 by default.
   --  @param Self the response
   --  @param Status the status code

   procedure Add_Field (Self : in out Document_Response; Name, Value : String)
     with Pre => (Is_Token (Name) and then Is_Field_Value (Value)
                    and then not Is_Reserved (Name))
                 or else raise Misuse_Error with "the field is invalid or reserved";
   --  Adds a field to the header of the response.
   --  @param Self the response
   --  @param Name the name of the field
   --  @param Value the value of the field
   --  @exception Response_Too_Large the field does not fit

   procedure Refuse (Self : in out Document_Response; Status : Status_Code; Why : String := "")
     with Pre => Status >= 400
                 or else raise Misuse_Error with "the status is not an error",
          Post => Self.Is_Refused;
   --  Discards everything that the handler has written, and reports an error to the client instead.
   --  @param Self the response
   --  @param Status the status code
   --  @param Why a message, whose first 200 bytes are sent as a document; if empty, the response
   --  has no content

   function Is_Refused (Self : Document_Response) return Boolean;
   --  @param Self the response
   --  @return True after Refuse

   ----------------
   -- Parameters --
   ----------------

   type Parameter_Location is (In_Path, In_Query);

   --  Each package decodes and checks a parameter, and converts it to a value. If the parameter is
   --  invalid, the response is 400. If the query does not have the parameter, the value is Default.

   generic
      type Value (<>) is private;
      Parameter_Name : String;
      Location       : Parameter_Location;
      Default        : String;
      with function Is_Valid (Text : String) return Boolean;
      with function Value_Of (Text : String) return Value;
   package Parameters is
   end Parameters;

   generic
      Name     : String;
      Location : Parameter_Location := In_Path;
      Default  : String := "";
      with function Is_Valid (Text : String) return Boolean;
   package Text_Parameters is
      function Value_Of (Text : String) return String is (Text) with Inline;
      package Parameter is new Parameters (String, Name, Location, Default, Is_Valid, Value_Of);
   end Text_Parameters;
   --  A text parameter that Is_Valid accepts

   generic
      type Number is range <>;
      Name     : String;
      Location : Parameter_Location := In_Path;
      Default  : String := "";
   package Integer_Parameters is
      function Is_Valid (Text : String) return Boolean;
      function Value_Of (Text : String) return Number
        with Pre => Is_Valid (Text) or else raise Misuse_Error with "the parameter is invalid";
      package Parameter is new Parameters (Number, Name, Location, Default, Is_Valid, Value_Of);
   end Integer_Parameters;
   --  An integer parameter in the range of the type, written in decimal digits with an optional
   --  minus sign

   generic
      type Choice is (<>);
      Name     : String;
      Location : Parameter_Location := In_Path;
      Default  : String := "";
   package Choice_Parameters is
      function Is_Valid (Text : String) return Boolean;
      function Value_Of (Text : String) return Choice
        with Pre => Is_Valid (Text) or else raise Misuse_Error with "the parameter is invalid";
      package Parameter is new Parameters (Choice, Name, Location, Default, Is_Valid, Value_Of);
   end Choice_Parameters;
   --  An enumeration parameter, whose values are written in lower case

   --------------
   -- Handlers --
   --------------

   type Document_Handler is not null access procedure (Response : in out Document_Response);

   --  Generic handlers for routes. Each instance calls a procedure with typed parameters.

   generic
      with package First is new Parameters (<>);
      with procedure Handle (First_Value : First.Value; Response : in out Document_Response);
   procedure With_Parameter (Response : in out Document_Response);

   generic
      with package First is new Parameters (<>);
      with package Second is new Parameters (<>);
      with procedure Handle
        (First_Value  : First.Value;
         Second_Value : Second.Value;
         Response     : in out Document_Response);
   procedure With_Two_Parameters (Response : in out Document_Response);

   generic
      with package First is new Parameters (<>);
      with package Second is new Parameters (<>);
      with package Third is new Parameters (<>);
      with procedure Handle
        (First_Value  : First.Value;
         Second_Value : Second.Value;
         Third_Value  : Third.Value;
         Response     : in out Document_Response);
   procedure With_Three_Parameters (Response : in out Document_Response);

   --------------
   -- Services --
   --------------

   Route_Error : exception;
   --  A pattern is malformed, or two routes match the same requests

   subtype Route_Method is Method_Kind
     with Static_Predicate => Route_Method not in Head | Options;

   Max_Pattern_Length : constant := 200;

   type Path_Route is private;

   function Route
     (Method : Method_Kind; Pattern : String; Handle : Document_Handler) return Path_Route
     with Pre => (Method in Route_Method and then Pattern'Length <= Max_Pattern_Length)
                 or else raise Misuse_Error with
                   "the method cannot have routes, or the pattern is too long";
   --  Creates a route whose responses are documents.
   --  @param Method the method
   --  @param Pattern a path. Each segment is literal text, which must be equal to the decoded
   --  segment, or "{name}", which matches any segment that is not empty. The last segment may be
   --  "{name...}", which matches the rest of the path. Literal text takes precedence over a name.
   --  @param Handle the handler
   --  @return the route

   function Route
     (Method : Method_Kind; Pattern : String; Handle : Handler) return Path_Route
     with Pre => (Method in Route_Method and then Pattern'Length <= Max_Pattern_Length)
                 or else raise Misuse_Error with
                   "the method cannot have routes, or the pattern is too long";
   --  Creates a route whose responses are not documents but, for example, files or constant text.
   --  @param Method the method
   --  @param Pattern a path, in the same format as for routes whose responses are documents
   --  @param Handle the handler
   --  @return the route

   function Constant_Route
     (Pattern : String; Write : not null access procedure (Document : in out Documents.Writer))
      return Path_Route
     with Pre => Pattern'Length <= Max_Pattern_Length
                 or else raise Misuse_Error with "the pattern is too long";
   --  Creates a route for GET whose response is a constant document of up to 65,536 bytes. This
   --  call writes the document once in each format. The documents are stored in heap memory that is
   --  never freed.
   --  @param Pattern a path, in the same format as for routes whose responses are documents
   --  @param Write writes the document
   --  @return the route

   type Route_List is array (Positive range <>) of Path_Route;

   type Service (<>) is tagged limited private;
   --  A search tree of routes. A service is immutable, so any number of tasks may use it
   --  concurrently.

   function Service_Of (Routes : Route_List) return Service;
   --  Creates a service from routes.
   --  @param Routes the routes
   --  @return the service
   --  @exception Route_Error a pattern is malformed, or two routes match the same requests

   function Respond (Self : Service; Request : HTTP.Request) return Response;
   --  Finds the route of a request and calls its handler.
   --  @param Self the service
   --  @param Request the request
   --  @return the response

private

   --------------
   -- Captures --
   --------------

   --  The parts of a path that match the names in a route's pattern

   Max_Captures       : constant := 8;
   Max_Capture_Length : constant := 32;
   --  The maximum number of parameters in a path (Max_Captures), and the maximum length of their
   --  names in bytes (Max_Capture_Length)

   type Capture is record
      First : Positive;
      Last  : Natural;
      --  The range of a captured value in the request's bytes
   end record;
   --  Components have no initial values. This saves time, since a request has room for the maximum
   --  number of captures, but usually needs only one or two.

   type Captures is array (1 .. Max_Captures) of Capture;

   type Node;
   type Link is access all Node;
   --  A reference to a node in the tree of routes

   ---------------
   -- Responses --
   ---------------

   Max_Reason_Length : constant := 200;

   type Document_Response
     (Request : not null access constant HTTP.Request;
      To      : not null access Text_Sinks.Text_Sink'Class;
      Form    : Documents.Format) is limited new Documents.Writer (To, Form) with
   record
      Has_Status    : Boolean := False;
      Refused       : Boolean := False;
      Status        : Status_Code := OK;
      Reason_Length : Natural := 0;
      Reason        : String (1 .. Max_Reason_Length);
      Node          : Link;
      --  The route's node. The node and its ancestors contain the names of the captures.
      Capture_Count : Natural range 0 .. Max_Captures := 0;
      Captured      : Captures;
   end record;

   procedure Read_Parameter
     (Self     : Document_Response;
      Name     : String;
      Location : Parameter_Location;
      Default  : String;
      Read     : not null access procedure (Text : String));
   --  Calls Read with the decoded text of a parameter

   function Is_Refused (Self : Document_Response) return Boolean is (Self.Refused);

   ------------
   -- Routes --
   ------------

   type Document_Reference is access procedure (Response : in out Document_Response);
   type Plain_Reference is access function (Request : HTTP.Request) return Response;

   type Target_Kind is (None, Document, Plain, Constant_Document);

   type Constant_Texts is array (Documents.Format) of Constant_Text;

   type Target (Kind : Target_Kind := None) is record
      case Kind is
         when None              => null;
         when Document          => Document : Document_Reference;
         when Plain             => Plain : Plain_Reference;
         when Constant_Document => Texts : Constant_Texts;
      end case;
   end record;

   type Path_Route is record
      Method  : Method_Kind;
      Handle  : Target;
      Length  : Natural range 0 .. Max_Pattern_Length;
      Pattern : String (1 .. Max_Pattern_Length);
   end record;

   --------------
   -- Services --
   --------------

   --  A tree of segments. The children of a node are a linked list of nodes with literal text, then
   --  a node with a name, and then a node that matches the rest of a path. A path follows the first
   --  child that leads to a route.

   type Segment_Kind is (Literal, One_Segment, All_Segments);

   type Links is array (Segment_Kind) of Link;

   type Targets is array (Method_Kind) of Target;

   type Node is limited record
      Kind     : Segment_Kind;
      Is_End   : Boolean := False;
      --  True if a route ends at this node
      Start    : Character;
      --  The first character of Text, for a quick comparison. "/" if Text is empty, since "/" or
      --  the end of the path then follows.
      Length   : Natural range 0 .. Max_Pattern_Length;
      Parent   : Link;
      Children : Links;
      Next     : Link;
      --  The next child of the node's parent
      Text     : String (1 .. Max_Pattern_Length);
      --  The text that must be equal to the segment, or the name of a parameter
      Routes   : Targets;
   end record;

   type Node_List is array (Positive range <>) of aliased Node;

   type Service (Room : Positive) is tagged limited record
      Count : Natural := 0;
      Nodes : Node_List (1 .. Room);
      Root  : Link;
   end record;

end Appserver.HTTP.REST;
