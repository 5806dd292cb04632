; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".142" = alloca <4 x float>
  %".143" = alloca <4 x float>
  %".144" = alloca <4 x float>
  %".145" = alloca <4 x float>
  %".237" = alloca <4 x float>
  %".238" = alloca <4 x float>
  %".239" = alloca <4 x float>
  %".240" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = urem i64 %".4", %".8"
  %".10" = udiv i64 %".4", %".8"
  %".11" = getelementptr ptr, ptr %".1", i64 0
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 1
  %".14" = load ptr, ptr %".13"
  %".15" = trunc i64 %".9" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".9" to i32
  %".18" = sext i32 %".17" to i64
  %".19" = sext i32 0 to i64
  %".20" = mul i64 %".18", 4
  %".21" = mul i64 %".19", 16
  %".22" = icmp ule i64 %".20", 4
  %".23" = icmp ule i64 %".21", 0
  %".24" = and i1 %".22", %".23"
  %".25" = mul i64 %".20", 16
  %".26" = add i64 %".25", %".21"
  %".27" = getelementptr float, ptr %".12", i64 %".26"
  %".28" = getelementptr i8, ptr %".3", i64 0
  %".29" = xor i1 %".24", -1
  br i1 %".29", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".78" = select  i1 %".24", ptr %".27", ptr %".28"
  %".79" = trunc i64 %".9" to i32
  %".80" = sext i32 %".79" to i64
  %".81" = sext i32 0 to i64
  %".82" = mul i64 %".80", 4
  %".83" = mul i64 %".81", 16
  %".84" = icmp ule i64 %".82", 4
  %".85" = icmp ule i64 %".83", 0
  %".86" = and i1 %".84", %".85"
  %".87" = mul i64 %".82", 16
  %".88" = add i64 %".87", %".83"
  %".89" = getelementptr float, ptr %".14", i64 %".88"
  %".90" = getelementptr i8, ptr %".3", i64 256
  %".91" = xor i1 %".86", -1
  br i1 %".91", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".43", %"done.1"]
  %".32" = icmp slt i64 %"i", 4
  br i1 %".32", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".45" = icmp slt i64 %".20", 0
  %".46" = sub i64 0, %".20"
  %".47" = select  i1 %".45", i64 %".46", i64 0
  %".48" = sub i64 8, %".20"
  %".49" = icmp slt i64 %".48", 4
  %".50" = select  i1 %".49", i64 %".48", i64 4
  %".51" = icmp slt i64 %".21", 0
  %".52" = sub i64 0, %".21"
  %".53" = select  i1 %".51", i64 %".52", i64 0
  %".54" = sub i64 16, %".21"
  %".55" = icmp slt i64 %".54", 16
  %".56" = select  i1 %".55", i64 %".54", i64 16
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".41", %"body.1"]
  %".35" = icmp slt i64 %"i.1", 16
  br i1 %".35", label %"body.1", label %"done.1"
body.1:
  %".37" = mul i64 %"i", 16
  %".38" = add i64 %".37", %"i.1"
  %".39" = getelementptr inbounds float, ptr %".28", i64 %".38"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".39", align 4
  %".41" = add i64 %"i.1", 4
  br label %"loop.1"
done.1:
  %".43" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".47", %"done"], [%".75", %"done.3"]
  %".58" = icmp slt i64 %"i.2", %".50"
  br i1 %".58", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".53", %"body.2"], [%".73", %"body.3"]
  %".61" = icmp slt i64 %"i.3", %".56"
  br i1 %".61", label %"body.3", label %"done.3"
body.3:
  %".63" = add i64 %".20", %"i.2"
  %".64" = add i64 %".21", %"i.3"
  %".65" = mul i64 %".63", 16
  %".66" = add i64 %".65", %".64"
  %".67" = getelementptr inbounds float, ptr %".12", i64 %".66"
  %".68" = load float, ptr %".67", align 4
  %".69" = mul i64 %"i.2", 16
  %".70" = add i64 %".69", %"i.3"
  %".71" = getelementptr inbounds float, ptr %".28", i64 %".70"
  store float %".68", ptr %".71", align 4
  %".73" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".75" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".140" = select  i1 %".86", ptr %".89", ptr %".90"
  %".141" = getelementptr i8, ptr %".3", i64 512
  br label %"loop.8"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".105", %"done.5"]
  %".94" = icmp slt i64 %"i.4", 4
  br i1 %".94", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  %".107" = icmp slt i64 %".82", 0
  %".108" = sub i64 0, %".82"
  %".109" = select  i1 %".107", i64 %".108", i64 0
  %".110" = sub i64 8, %".82"
  %".111" = icmp slt i64 %".110", 4
  %".112" = select  i1 %".111", i64 %".110", i64 4
  %".113" = icmp slt i64 %".83", 0
  %".114" = sub i64 0, %".83"
  %".115" = select  i1 %".113", i64 %".114", i64 0
  %".116" = sub i64 16, %".83"
  %".117" = icmp slt i64 %".116", 16
  %".118" = select  i1 %".117", i64 %".116", i64 16
  br label %"loop.6"
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".103", %"body.5"]
  %".97" = icmp slt i64 %"i.5", 16
  br i1 %".97", label %"body.5", label %"done.5"
body.5:
  %".99" = mul i64 %"i.4", 16
  %".100" = add i64 %".99", %"i.5"
  %".101" = getelementptr inbounds float, ptr %".90", i64 %".100"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".101", align 4
  %".103" = add i64 %"i.5", 4
  br label %"loop.5"
done.5:
  %".105" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [%".109", %"done.4"], [%".137", %"done.7"]
  %".120" = icmp slt i64 %"i.6", %".112"
  br i1 %".120", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".115", %"body.6"], [%".135", %"body.7"]
  %".123" = icmp slt i64 %"i.7", %".118"
  br i1 %".123", label %"body.7", label %"done.7"
body.7:
  %".125" = add i64 %".82", %"i.6"
  %".126" = add i64 %".83", %"i.7"
  %".127" = mul i64 %".125", 16
  %".128" = add i64 %".127", %".126"
  %".129" = getelementptr inbounds float, ptr %".14", i64 %".128"
  %".130" = load float, ptr %".129", align 4
  %".131" = mul i64 %"i.6", 16
  %".132" = add i64 %".131", %"i.7"
  %".133" = getelementptr inbounds float, ptr %".90", i64 %".132"
  store float %".130", ptr %".133", align 4
  %".135" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".137" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"end.1"], [%".233", %"done.9"]
  %".147" = icmp slt i64 %"i.8", 4
  br i1 %".147", label %"body.8", label %"done.8"
body.8:
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".142"
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".143"
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".144"
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".145"
  br label %"loop.9"
done.8:
  %".235" = getelementptr i8, ptr %".3", i64 576
  %".236" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.10"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".199", %"body.9"]
  %".154" = icmp slt i64 %"i.9", 16
  br i1 %".154", label %"body.9", label %"done.9"
body.9:
  %".156" = mul i64 %"i.8", 16
  %".157" = add i64 %".156", %"i.9"
  %".158" = getelementptr inbounds float, ptr %".78", i64 %".157"
  %".159" = load <4 x float>, ptr %".158", align 4
  %".160" = load <4 x float>, <4 x float>* %".142"
  %".161" = fcmp ogt <4 x float> %".160", %".159"
  %".162" = select  <4 x i1> %".161", <4 x float> %".160", <4 x float> %".159"
  %".163" = fcmp uno <4 x float> %".160", %".160"
  %".164" = select  <4 x i1> %".163", <4 x float> %".160", <4 x float> %".162"
  store <4 x float> %".164", <4 x float>* %".142"
  %".166" = add i64 %"i.9", 4
  %".167" = mul i64 %"i.8", 16
  %".168" = add i64 %".167", %".166"
  %".169" = getelementptr inbounds float, ptr %".78", i64 %".168"
  %".170" = load <4 x float>, ptr %".169", align 4
  %".171" = load <4 x float>, <4 x float>* %".143"
  %".172" = fcmp ogt <4 x float> %".171", %".170"
  %".173" = select  <4 x i1> %".172", <4 x float> %".171", <4 x float> %".170"
  %".174" = fcmp uno <4 x float> %".171", %".171"
  %".175" = select  <4 x i1> %".174", <4 x float> %".171", <4 x float> %".173"
  store <4 x float> %".175", <4 x float>* %".143"
  %".177" = add i64 %"i.9", 8
  %".178" = mul i64 %"i.8", 16
  %".179" = add i64 %".178", %".177"
  %".180" = getelementptr inbounds float, ptr %".78", i64 %".179"
  %".181" = load <4 x float>, ptr %".180", align 4
  %".182" = load <4 x float>, <4 x float>* %".144"
  %".183" = fcmp ogt <4 x float> %".182", %".181"
  %".184" = select  <4 x i1> %".183", <4 x float> %".182", <4 x float> %".181"
  %".185" = fcmp uno <4 x float> %".182", %".182"
  %".186" = select  <4 x i1> %".185", <4 x float> %".182", <4 x float> %".184"
  store <4 x float> %".186", <4 x float>* %".144"
  %".188" = add i64 %"i.9", 12
  %".189" = mul i64 %"i.8", 16
  %".190" = add i64 %".189", %".188"
  %".191" = getelementptr inbounds float, ptr %".78", i64 %".190"
  %".192" = load <4 x float>, ptr %".191", align 4
  %".193" = load <4 x float>, <4 x float>* %".145"
  %".194" = fcmp ogt <4 x float> %".193", %".192"
  %".195" = select  <4 x i1> %".194", <4 x float> %".193", <4 x float> %".192"
  %".196" = fcmp uno <4 x float> %".193", %".193"
  %".197" = select  <4 x i1> %".196", <4 x float> %".193", <4 x float> %".195"
  store <4 x float> %".197", <4 x float>* %".145"
  %".199" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  %".201" = load <4 x float>, <4 x float>* %".142"
  %".202" = load <4 x float>, <4 x float>* %".143"
  %".203" = fcmp ogt <4 x float> %".201", %".202"
  %".204" = select  <4 x i1> %".203", <4 x float> %".201", <4 x float> %".202"
  %".205" = fcmp uno <4 x float> %".201", %".201"
  %".206" = select  <4 x i1> %".205", <4 x float> %".201", <4 x float> %".204"
  %".207" = load <4 x float>, <4 x float>* %".144"
  %".208" = fcmp ogt <4 x float> %".206", %".207"
  %".209" = select  <4 x i1> %".208", <4 x float> %".206", <4 x float> %".207"
  %".210" = fcmp uno <4 x float> %".206", %".206"
  %".211" = select  <4 x i1> %".210", <4 x float> %".206", <4 x float> %".209"
  %".212" = load <4 x float>, <4 x float>* %".145"
  %".213" = fcmp ogt <4 x float> %".211", %".212"
  %".214" = select  <4 x i1> %".213", <4 x float> %".211", <4 x float> %".212"
  %".215" = fcmp uno <4 x float> %".211", %".211"
  %".216" = select  <4 x i1> %".215", <4 x float> %".211", <4 x float> %".214"
  %".217" = shufflevector <4 x float> %".216", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".218" = shufflevector <4 x float> %".216", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".219" = fcmp ogt <2 x float> %".217", %".218"
  %".220" = select  <2 x i1> %".219", <2 x float> %".217", <2 x float> %".218"
  %".221" = fcmp uno <2 x float> %".217", %".217"
  %".222" = select  <2 x i1> %".221", <2 x float> %".217", <2 x float> %".220"
  %".223" = shufflevector <2 x float> %".222", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".224" = shufflevector <2 x float> %".222", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".225" = extractelement <1 x float> %".223", i32 0
  %".226" = extractelement <1 x float> %".224", i32 0
  %".227" = fcmp ogt float %".225", %".226"
  %".228" = select  i1 %".227", float %".225", float %".226"
  %".229" = fcmp uno float %".225", %".225"
  %".230" = select  i1 %".229", float %".225", float %".228"
  %".231" = getelementptr inbounds float, ptr %".141", i64 %"i.8"
  store float %".230", ptr %".231", align 4
  %".233" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [0, %"done.8"], [%".335", %"done.11"]
  %".242" = icmp slt i64 %"i.10", 4
  br i1 %".242", label %"body.10", label %"done.10"
body.10:
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".237"
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".238"
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".239"
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".240"
  %".248" = getelementptr inbounds float, ptr %".141", i64 %"i.10"
  %".249" = load float, ptr %".248", align 4
  br label %"loop.11"
done.10:
  br label %"loop.12"
loop.11:
  %"i.11" = phi  i64 [0, %"body.10"], [%".316", %"body.11"]
  %".251" = icmp slt i64 %"i.11", 16
  br i1 %".251", label %"body.11", label %"done.11"
body.11:
  %".253" = mul i64 %"i.10", 16
  %".254" = add i64 %".253", %"i.11"
  %".255" = getelementptr inbounds float, ptr %".78", i64 %".254"
  %".256" = load <4 x float>, ptr %".255", align 4
  %".257" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".249", i32 0
  %".258" = shufflevector <4 x float> %".257", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".259" = fsub <4 x float> %".256", %".258"
  %".260" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".259")
  %".261" = mul i64 %"i.10", 16
  %".262" = add i64 %".261", %"i.11"
  %".263" = getelementptr inbounds float, ptr %".236", i64 %".262"
  store <4 x float> %".260", ptr %".263", align 4
  %".265" = load <4 x float>, <4 x float>* %".237"
  %".266" = fadd <4 x float> %".265", %".260"
  store <4 x float> %".266", <4 x float>* %".237"
  %".268" = add i64 %"i.11", 4
  %".269" = mul i64 %"i.10", 16
  %".270" = add i64 %".269", %".268"
  %".271" = getelementptr inbounds float, ptr %".78", i64 %".270"
  %".272" = load <4 x float>, ptr %".271", align 4
  %".273" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".249", i32 0
  %".274" = shufflevector <4 x float> %".273", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".275" = fsub <4 x float> %".272", %".274"
  %".276" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".275")
  %".277" = mul i64 %"i.10", 16
  %".278" = add i64 %".277", %".268"
  %".279" = getelementptr inbounds float, ptr %".236", i64 %".278"
  store <4 x float> %".276", ptr %".279", align 4
  %".281" = load <4 x float>, <4 x float>* %".238"
  %".282" = fadd <4 x float> %".281", %".276"
  store <4 x float> %".282", <4 x float>* %".238"
  %".284" = add i64 %"i.11", 8
  %".285" = mul i64 %"i.10", 16
  %".286" = add i64 %".285", %".284"
  %".287" = getelementptr inbounds float, ptr %".78", i64 %".286"
  %".288" = load <4 x float>, ptr %".287", align 4
  %".289" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".249", i32 0
  %".290" = shufflevector <4 x float> %".289", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".291" = fsub <4 x float> %".288", %".290"
  %".292" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".291")
  %".293" = mul i64 %"i.10", 16
  %".294" = add i64 %".293", %".284"
  %".295" = getelementptr inbounds float, ptr %".236", i64 %".294"
  store <4 x float> %".292", ptr %".295", align 4
  %".297" = load <4 x float>, <4 x float>* %".239"
  %".298" = fadd <4 x float> %".297", %".292"
  store <4 x float> %".298", <4 x float>* %".239"
  %".300" = add i64 %"i.11", 12
  %".301" = mul i64 %"i.10", 16
  %".302" = add i64 %".301", %".300"
  %".303" = getelementptr inbounds float, ptr %".78", i64 %".302"
  %".304" = load <4 x float>, ptr %".303", align 4
  %".305" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".249", i32 0
  %".306" = shufflevector <4 x float> %".305", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".307" = fsub <4 x float> %".304", %".306"
  %".308" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".307")
  %".309" = mul i64 %"i.10", 16
  %".310" = add i64 %".309", %".300"
  %".311" = getelementptr inbounds float, ptr %".236", i64 %".310"
  store <4 x float> %".308", ptr %".311", align 4
  %".313" = load <4 x float>, <4 x float>* %".240"
  %".314" = fadd <4 x float> %".313", %".308"
  store <4 x float> %".314", <4 x float>* %".240"
  %".316" = add i64 %"i.11", 16
  br label %"loop.11"
done.11:
  %".318" = load <4 x float>, <4 x float>* %".237"
  %".319" = load <4 x float>, <4 x float>* %".238"
  %".320" = fadd <4 x float> %".318", %".319"
  %".321" = load <4 x float>, <4 x float>* %".239"
  %".322" = fadd <4 x float> %".320", %".321"
  %".323" = load <4 x float>, <4 x float>* %".240"
  %".324" = fadd <4 x float> %".322", %".323"
  %".325" = shufflevector <4 x float> %".324", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".326" = shufflevector <4 x float> %".324", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".327" = fadd <2 x float> %".325", %".326"
  %".328" = shufflevector <2 x float> %".327", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".329" = shufflevector <2 x float> %".327", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".330" = extractelement <1 x float> %".328", i32 0
  %".331" = extractelement <1 x float> %".329", i32 0
  %".332" = fadd float %".330", %".331"
  %".333" = getelementptr inbounds float, ptr %".235", i64 %"i.10"
  store float %".332", ptr %".333", align 4
  %".335" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [0, %"done.10"], [%".358", %"done.13"]
  %".338" = icmp slt i64 %"i.12", 4
  br i1 %".338", label %"body.12", label %"done.12"
body.12:
  %".340" = getelementptr inbounds float, ptr %".235", i64 %"i.12"
  %".341" = load float, ptr %".340", align 4
  br label %"loop.13"
done.12:
  br i1 %".91", label %"then.2", label %"end.2"
loop.13:
  %"i.13" = phi  i64 [0, %"body.12"], [%".356", %"body.13"]
  %".343" = icmp slt i64 %"i.13", 16
  br i1 %".343", label %"body.13", label %"done.13"
body.13:
  %".345" = mul i64 %"i.12", 16
  %".346" = add i64 %".345", %"i.13"
  %".347" = getelementptr inbounds float, ptr %".236", i64 %".346"
  %".348" = load <4 x float>, ptr %".347", align 4
  %".349" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".341", i32 0
  %".350" = shufflevector <4 x float> %".349", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".351" = fdiv <4 x float> %".348", %".350"
  %".352" = mul i64 %"i.12", 16
  %".353" = add i64 %".352", %"i.13"
  %".354" = getelementptr inbounds float, ptr %".140", i64 %".353"
  store <4 x float> %".351", ptr %".354", align 4
  %".356" = add i64 %"i.13", 4
  br label %"loop.13"
done.13:
  %".358" = add i64 %"i.12", 1
  br label %"loop.12"
then.2:
  %".361" = icmp slt i64 %".82", 0
  %".362" = sub i64 0, %".82"
  %".363" = select  i1 %".361", i64 %".362", i64 0
  %".364" = sub i64 8, %".82"
  %".365" = icmp slt i64 %".364", 4
  %".366" = select  i1 %".365", i64 %".364", i64 4
  %".367" = icmp slt i64 %".83", 0
  %".368" = sub i64 0, %".83"
  %".369" = select  i1 %".367", i64 %".368", i64 0
  %".370" = sub i64 16, %".83"
  %".371" = icmp slt i64 %".370", 16
  %".372" = select  i1 %".371", i64 %".370", i64 16
  br label %"loop.14"
end.2:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".363", %"then.2"], [%".391", %"done.15"]
  %".374" = icmp slt i64 %"i.14", %".366"
  br i1 %".374", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.2"
loop.15:
  %"i.15" = phi  i64 [%".369", %"body.14"], [%".389", %"body.15"]
  %".377" = icmp slt i64 %"i.15", %".372"
  br i1 %".377", label %"body.15", label %"done.15"
body.15:
  %".379" = add i64 %".82", %"i.14"
  %".380" = add i64 %".83", %"i.15"
  %".381" = mul i64 %"i.14", 16
  %".382" = add i64 %".381", %"i.15"
  %".383" = getelementptr inbounds float, ptr %".90", i64 %".382"
  %".384" = load float, ptr %".383", align 4
  %".385" = mul i64 %".379", 16
  %".386" = add i64 %".385", %".380"
  %".387" = getelementptr inbounds float, ptr %".14", i64 %".386"
  store float %".384", ptr %".387", align 4
  %".389" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".391" = add i64 %"i.14", 1
  br label %"loop.14"
}
